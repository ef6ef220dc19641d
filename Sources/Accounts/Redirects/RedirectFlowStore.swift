package import Foundation
package import ProviderKit

/// A redirect flow to store.
package struct NewRedirectFlow: Sendable {
    /// The `state` parameter towards the provider, which the database stores by hash.
    package let state: OpaqueToken
    package let provider: String
    package let destination: FlowDestination
    /// The only session that may link the result; `nil` for a flow that signs in.
    package let linkingSession: UUID?
    /// Whether the provider must authenticate the person again.
    ///
    /// Only such a flow re-authenticates.
    package let isFresh: Bool
    /// The value that the browser's cookie must have at the callback; `nil` if the app itself drives the browser.
    package let browser: OpaqueToken?
    package let lifetime: Duration
}

/// Where a flow ends, and which app may redeem its code.
package struct FlowDestination: Sendable, Equatable {
    package let redirectURI: String
    /// The app's state, or a generated one.
    package let appState: String
    /// The app's S256 code challenge; `nil` only if the redirect URI is registered without PKCE.
    package let codeChallenge: String?

    package init(redirectURI: String, appState: String, codeChallenge: String?) {
        self.redirectURI = redirectURI
        self.appState = appState
        self.codeChallenge = codeChallenge
    }
}

/// A flow whose callback has arrived.
package struct AnsweredFlow: Sendable {
    package let destination: FlowDestination
    package let beganAt: Date
    package let isFresh: Bool

    package init(destination: FlowDestination, beganAt: Date, isFresh: Bool) {
        self.destination = destination
        self.beganAt = beganAt
        self.isFresh = isFresh
    }
}

/// A flow whose code was presented for the first time.
package struct RedeemedFlow: Sendable {
    package let provider: String
    package let destination: FlowDestination
    package let evidence: VerifiedIdentity

    package init(provider: String, destination: FlowDestination, evidence: VerifiedIdentity) {
        self.provider = provider
        self.destination = destination
        self.evidence = evidence
    }
}

/// What a flow's code is presented for.
package enum FlowUse: Sendable {
    case signIn
    /// By the session that began the flow to link.
    case link(UUID)
    /// By a session that links nothing: accepts its own flow and one that signs in.
    case anything(UUID)
    /// By a session that re-authenticates. The flow must have required a fresh login.
    case reauthentication(UUID)

    package var session: UUID? {
        switch self {
        case .signIn: nil
        case .link(let session), .anything(let session), .reauthentication(let session): session
        }
    }
}

/// The result of presenting a code.
package enum CodePresentation: Sendable {
    case redeemed(RedeemedFlow)
    /// Presented before, too long ago to be a duplicate request.
    case replayed(session: UUID, of: UUID)
    /// Unknown, expired, or presented a moment ago.
    case refused
}

/// Redirect flows until the provider calls back.
package protocol RedirectFlowStore: Sendable {
    func begin(_ flow: NewRedirectFlow, application: Application.ID) async throws

    /// Uses up the state. Of concurrent callers one gets the flow.
    ///
    /// - Returns: `nil` for a state that is unknown, expired, used, another provider's or another browser's.
    func answer(
        state: [UInt8], provider: String, browser: [UInt8]?, application: Application.ID
    ) async throws -> AnsweredFlow?

    /// Stores evidence, sealed, until its code is presented.
    func issueCode(
        _ code: OpaqueToken, for evidence: VerifiedIdentity, from provider: String, state: [UInt8], lifetime: Duration,
        application: Application.ID
    ) async throws
}

/// Codes of redirect flows that have come back.
package protocol FlowCodeStore: Sendable {
    /// Uses up the code and locks its flow for the rest of the transaction.
    ///
    /// A code that was used less than `tolerance` ago is only refused. A code for another use is refused and stays
    /// valid.
    func redeem(
        code: [UInt8], for use: FlowUse, tolerance: Duration, application: Application.ID
    ) async throws -> CodePresentation

    /// Records which session a code opened, so that presenting the code again ends the session.
    func note(session: UUID, openedBy code: [UInt8], application: Application.ID) async throws
}
