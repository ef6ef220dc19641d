package import Accounts
package import Foundation

/// A decision that the pages of a request ask for after a proof, before any other step.
package indirect enum PendingDecision: Sendable, Codable, Equatable {
    /// The person has returned from a provider's pages with a proof that is not used yet; `after` was pending before.
    /// `arrival` is its name in stored requests.
    case arrival(ProviderCallback, after: PendingDecision?)
    /// The proof is of an identity without an account, so the person chooses between a new account and an own one.
    case newIdentity(ProviderCallback)
    /// The account asks for another proof, too, which the ticket goes along with.
    case secondProof(ticket: String, rule: String, ways: WaysToSignIn)
    /// The account is being deleted until `purgeAfter`; the token restores it, in a session that may be remembered.
    ///
    /// `keepsSession` is `false` after a mailed link. `nil`, as earlier versions of the server store it, keeps the session.
    case restore(token: String, purgeAfter: Date, remember: Bool, keepsSession: Bool? = nil)
    /// The identity that the person wanted to link belongs to another account.
    case conflict(LinkConflict)
    /// The person has chosen to merge the two accounts of a conflict, and is shown what that changes.
    case merge(LinkConflict)
    /// A proof has opened a new account.
    case welcome
}

/// A proof from a provider's pages, or one that each request carries, such as a mobile network's header.
package struct ProviderCallback: Sendable, Codable, Equatable {
    package let provider: String
    /// The one-time code of the redirect flow, and its `state`; `nil` for a provider without redirects.
    package let code, state: String?

    package init(provider: String, code: String? = nil, state: String? = nil) {
        (self.provider, self.code, self.state) = (provider, code, state)
    }
}

/// Why an identity cannot be linked.
package struct LinkConflict: Sendable, Codable, Equatable {
    /// The configured name of the identity's provider.
    package let provider: String
    /// The rule that refuses the link.
    package let rule: String
    /// Merges the two accounts; `nil` if a sign-in by the proof would not reach the other account.
    package let ticket: String?
}

extension PendingDecision {
    /// The page on which the person decides; `nil` for a callback, which the server decides.
    var step: ShownStep.Name? {
        switch self {
        case .arrival: nil
        case .newIdentity: .newOrLink
        case .secondProof: .secondProof
        case .restore: .restore
        case .conflict: .conflict
        case .merge: .merge
        case .welcome: .welcome
        }
    }
}

extension PendingDecision {
    /// The proof of an identity without an account.
    package var newIdentity: ProviderCallback? { if case .newIdentity(let callback) = self { callback } else { nil } }

    /// Until when the account can be restored.
    package var restorableUntil: Date? {
        if case .restore(_, let purgeAfter, _, _) = self { purgeAfter } else { nil }
    }

    /// The rule that asks for another proof, and the ways to give one.
    package var otherProof: (rule: String, ways: WaysToSignIn)? {
        if case .secondProof(_, let rule, let ways) = self { (rule, ways) } else { nil }
    }

    /// The conflict that the person decides, or has chosen to end by a merge.
    package var conflict: LinkConflict? {
        switch self {
        case .conflict(let conflict), .merge(let conflict): conflict
        case .arrival, .newIdentity, .secondProof, .restore, .welcome: nil
        }
    }

    /// The ticket that goes along with the next sign-in.
    var ticket: String? {
        switch self {
        case .secondProof(let ticket, _, _): ticket
        case .arrival(_, let earlier): earlier?.ticket
        default: nil
        }
    }
}
