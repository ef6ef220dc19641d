package import Foundation
package import ProviderKit

package struct NewRedirectFlow: Sendable {
    /// The `state` parameter that is sent to the provider; the database stores only its hash.
    package let state: OpaqueToken
    package let provider: String
    package let destination: FlowDestination
    /// The only session that may use the result: the one that links or, for a trial, the console's session; `nil` for a
    /// flow that signs in.
    package let linkingSession: UUID?
    /// Whether the provider must authenticate the person again, which a flow that re-authenticates requires.
    package let isFresh: Bool
    /// The value that the browser's cookie must have at the callback; `nil` if the app itself drives the browser.
    package let browser: OpaqueToken?
    package let lifetime: Duration
}

/// The redirect URI of a flow, and the values that the app must present to redeem its code.
package struct FlowDestination: Sendable, Equatable {
    package let redirectURI: String
    /// The app's `state`, or a generated one.
    package let appState: String
    /// The app's S256 code challenge; `nil` only if the redirect URI is registered without PKCE.
    package let codeChallenge: String?
    /// Whether the app asks for a short session (`Client.opensShortSession`).
    package let opensShortSession: Bool

    package init(redirectURI: String, appState: String, codeChallenge: String?, opensShortSession: Bool = false) {
        (self.redirectURI, self.appState, self.codeChallenge) = (redirectURI, appState, codeChallenge)
        self.opensShortSession = opensShortSession
    }
}

/// A flow whose callback has arrived.
package struct AnsweredFlow: Sendable {
    package let destination: FlowDestination
    package let beganAt: Date
    package let isFresh: Bool

    package init(destination: FlowDestination, beganAt: Date, isFresh: Bool) {
        (self.destination, self.beganAt, self.isFresh) = (destination, beganAt, isFresh)
    }
}

/// A flow whose code was presented for the first time.
package struct RedeemedFlow: Sendable {
    package let provider: String
    package let destination: FlowDestination
    package var evidence: VerifiedIdentity
    /// The browser's session that the evidence was taken from; `nil` for evidence of a provider's pages.
    package let source: Source?

    /// A browser's session that an app takes over; a borrowed one stays so.
    package struct Source: Sendable {
        package let session, uid: UUID
        package let isBorrowed: Bool

        package init(session: UUID, uid: UUID, isBorrowed: Bool) {
            (self.session, self.uid, self.isBorrowed) = (session, uid, isBorrowed)
        }
    }

    package init(
        provider: String, destination: FlowDestination, evidence: VerifiedIdentity, source: Source? = nil
    ) {
        (self.provider, self.destination, self.evidence) = (provider, destination, evidence)
        self.source = source
    }
}

/// A one-time code for `POST /auth/token` with which an app takes over the sign-in of a browser.
package struct NewHandover: Sendable {
    package let code: OpaqueToken
    /// Identifies the flow, like the `state` of one that leads to a provider's pages.
    package let state: OpaqueToken
    package let destination: FlowDestination
    package let lifetime: Duration

    package init(code: OpaqueToken, state: OpaqueToken, destination: FlowDestination, lifetime: Duration) {
        (self.code, self.state, self.destination, self.lifetime) = (code, state, destination, lifetime)
    }
}

package enum FlowUse: Sendable {
    case signIn
    /// Linking, by the session that began the flow for this purpose.
    case link(UUID)
    /// Linking with a flow that the session began or one that signs in: repeating a link that has replaced the guest, or
    /// at the server's own pages, where the person decides only after the flow what it is for.
    case anything(UUID)
    /// Re-authentication by a session; the flow must have required a fresh login (`isFresh`).
    case reauthentication(UUID)

    package var session: UUID? {
        switch self {
        case .signIn: nil
        case .link(let session), .anything(let session), .reauthentication(let session): session
        }
    }
}

package enum CodePresentation: Sendable {
    case redeemed(RedeemedFlow)
    /// The code was already presented, too long ago for a duplicate request.
    case replayed(session: UUID, of: UUID)
    /// The code is unknown, expired or unused and for another use, or was presented a moment ago.
    case refused
}

/// Stores redirect flows until the provider's callback.
package protocol RedirectFlowStore: Sendable {
    func begin(_ flow: NewRedirectFlow, application: Application.ID) async throws

    /// Consumes the state and returns its flow; if several callers race, only one gets the flow.
    /// - Returns: `nil` if the state is unknown, expired, used, or belongs to another provider or browser.
    func answer(
        state: [UInt8], provider: String, browser: [UInt8]?, application: Application.ID
    ) async throws -> AnsweredFlow?

    /// Seals and stores evidence until its code is presented.
    func issueCode(
        _ code: OpaqueToken, for evidence: VerifiedIdentity, from provider: String, state: [UInt8], lifetime: Duration,
        application: Application.ID) async throws
}

/// Redeems the codes of flows whose callback has arrived.
package protocol FlowCodeStore: Sendable {
    /// Consumes the code and locks its flow for the rest of the transaction.
    ///
    /// A code that was used less than `tolerance` ago is refused, and so is an unused one for another use, which remains
    /// valid, and one with evidence from a browser's session that has ended.
    func redeem(
        code: [UInt8], for use: FlowUse, tolerance: Duration, application: Application.ID
    ) async throws -> CodePresentation

    /// Records which session a code opened, so that the session is ended if the code is presented again.
    func note(session: UUID, openedBy code: [UInt8], application: Application.ID) async throws
}
