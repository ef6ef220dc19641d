package import Foundation
package import ProviderKit

/// What evidence means, given the rows, and the rule that says so.
package struct LinkingVerdict: Sendable, Equatable {
    package let rule: LinkingRule
    package let outcome: LinkingOutcome

    package init(_ rule: LinkingRule, _ outcome: LinkingOutcome) {
        self.rule = rule
        self.outcome = outcome
    }

    static func refuse(_ rule: LinkingRule) -> LinkingVerdict { LinkingVerdict(rule, .refuse) }

    /// The refusal as a client reads it; its remedies name a ticket only if there is one.
    package var refusal: Refusal {
        switch outcome {
        case .conflict(with: _, offersMerge: false), .deleted(uid: _, purgeAfter: _, offersRestore: false):
            rule.refusalWithoutTicket
        default: rule.refusal
        }
    }
}

package enum LinkingOutcome: Sendable, Equatable {
    /// A session of a live account that is there.
    case signIn(AccountMatch)
    /// A new account.
    case create(NewIdentity)
    /// A new identity of the account that asks.
    case link(NewIdentity, to: UUID)
    /// The same for a guest, who stays who it is: same account, same session.
    case upgrade(NewIdentity, guest: UUID)
    /// The guest moves to an account that is there: what it had is erased, or absorbed.
    case replaceGuest(by: AccountMatch, isAbsorbed: Bool)
    /// The identity or address belongs to another account.
    ///
    /// A ticket to merge the two is offered only if a sign-in with the same evidence would reach the other account.
    case conflict(with: UUID, offersMerge: Bool)
    /// The proof alone does not open the account: the number was idle for too long, or the identity is quarantined.
    ///
    /// `subject` is the number, the quarantined address, or the quarantined identity's own subject.
    case otherSignInRequired(of: UUID, subject: String)
    /// The evidence is valid and leads to an account in its grace period.
    ///
    /// A restore token is offered only if a sign-in with the same evidence would reach the account, and never for a
    /// phone number that has been idle for too long.
    case deleted(uid: UUID, purgeAfter: Date, offersRestore: Bool)
    case disabled
    case refuse
}

/// How evidence opens an account that is there.
package enum AccountMatch: Sendable, Equatable {
    case known(KnownIdentity)
    /// The identity is new and joins by an address that the account owns.
    case joining(NewIdentity, uid: UUID)

    package var uid: UUID {
        switch self {
        case .known(let identity): identity.uid
        case .joining(_, let uid): uid
        }
    }
}

/// An identity to be written.
package struct NewIdentity: Sendable, Equatable {
    /// Proven addresses that nobody owns: the account's from now on.
    package var claiming: [Address]
    /// Proven addresses that are the account's by then: those that it claims, and those that it owned already.
    package var showing: [Address]
    /// Whose number this was, long ago.
    package var displacing: AddressOwner?

    /// What it claims, it shows.
    package init(claiming: [Address] = [], showing: [Address]? = nil, displacing: AddressOwner? = nil) {
        self.claiming = claiming
        self.showing = showing ?? claiming
        self.displacing = displacing
    }
}
