package import Foundation
package import ProviderKit

/// A flow that sets out.
package struct NewRedirectFlow: Sendable {
    /// What comes back unchanged as `state`; the database knows it by hash.
    package let state: OpaqueToken
    /// The provider's configured name.
    package let provider: String
    package let destination: FlowDestination
    /// The session that alone may link what the flow brings; `nil` for a flow that signs in.
    package let linkingSession: UUID?
    /// The provider is asked to have the person sign in again; only such a flow re-authenticates.
    package let isFresh: Bool
    /// What the browser's cookie must say when it comes back; `nil` where the app itself drives the browser.
    package let browser: OpaqueToken?
    package let lifetime: Duration
}

/// Where a flow ends, and who may pick up what it brings.
package struct FlowDestination: Sendable, Equatable {
    package let redirectURI: String
    /// The app's own state, or one that was made for it.
    package let appState: String
    /// The app's proof key challenge, S256; `nil` only where the redirect URI is registered without.
    package let codeChallenge: String?

    package init(redirectURI: String, appState: String, codeChallenge: String?) {
        self.redirectURI = redirectURI
        self.appState = appState
        self.codeChallenge = codeChallenge
    }
}

/// A flow whose browser has come back.
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

/// What presenting a flow's code for the first time gives.
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
    /// By the session that began it for that.
    case link(UUID)
    /// By a session for which nothing is linked: its own flow is accepted, and one that signs in.
    case anything(UUID)
    /// By a session that re-authenticates: the provider must have been asked for a fresh login.
    case reauthentication(UUID)

    package var session: UUID? {
        switch self {
        case .signIn: nil
        case .link(let session), .anything(let session), .reauthentication(let session): session
        }
    }
}

/// What presenting a code does.
package enum CodePresentation: Sendable {
    case redeemed(RedeemedFlow)
    /// Presented before, so long ago that a repeated request of the same app is no explanation.
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
