package import Foundation
package import ProviderKit

package struct NewRedirectFlow: Sendable {
    /// The `state` parameter that is sent to the provider; the database stores only its hash.
    package let state: OpaqueToken
    package let provider: String
    package let destination: FlowDestination
    /// The only session that may link the result; `nil` for a flow that signs in.
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

    package init(redirectURI: String, appState: String, codeChallenge: String?) {
        (self.redirectURI, self.appState, self.codeChallenge) = (redirectURI, appState, codeChallenge)
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

    package init(provider: String, destination: FlowDestination, evidence: VerifiedIdentity) {
        (self.provider, self.destination, self.evidence) = (provider, destination, evidence)
    }
}

package enum FlowUse: Sendable {
    case signIn
    /// Linking, by the session that began the flow for this purpose.
    case link(UUID)
    /// Repeating a link that has replaced the guest, with a flow that the session began or one that signs in.
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
    /// The code is unknown, expired or for another use, or was presented a moment ago.
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
    /// A code that was used less than `tolerance` ago is refused, and so is one for another use, which remains valid.
    func redeem(
        code: [UInt8], for use: FlowUse, tolerance: Duration, application: Application.ID
    ) async throws -> CodePresentation

    /// Records which session a code opened, so that the session is ended if the code is presented again.
    func note(session: UUID, openedBy code: [UInt8], application: Application.ID) async throws
}
