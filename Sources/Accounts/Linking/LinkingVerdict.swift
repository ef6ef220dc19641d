package import Foundation
package import ProviderKit

/// The outcome for a piece of evidence, and the rule that decided it.
package struct LinkingVerdict: Sendable, Equatable {
    package let rule: LinkingRule
    package let outcome: LinkingOutcome

    package init(_ rule: LinkingRule, _ outcome: LinkingOutcome) { (self.rule, self.outcome) = (rule, outcome) }
    static func refuse(_ rule: LinkingRule) -> LinkingVerdict { LinkingVerdict(rule, .refuse) }

    /// The refusal for clients, whose remedies mention a ticket only if one is offered.
    package var refusal: Refusal {
        switch outcome {
        case .conflict(with: _, offersMerge: false), .deleted(uid: _, purgeAfter: _, offersRestore: false):
            rule.refusalWithoutTicket
        default: rule.refusal
        }
    }
}

package enum LinkingOutcome: Sendable, Equatable {
    case signIn(AccountMatch)
    case create(NewIdentity)
    /// Adds an identity to the requesting account.
    case link(NewIdentity, to: UUID)
    /// Adds an identity to a guest's account and keeps its session.
    case upgrade(NewIdentity, guest: UUID)
    /// Signs the guest in to an existing account, and deletes or merges the guest's account.
    case replaceGuest(by: AccountMatch, isAbsorbed: Bool)
    /// The identity or address has another account; a merge is offered only if a sign-in would reach that account.
    case conflict(with: UUID, offersMerge: Bool)
    /// The number was idle for too long, or the identity is quarantined; `subject` is what may not sign in.
    case otherSignInRequired(of: UUID, subject: String)
    /// The evidence is valid and leads to an account in its grace period.
    ///
    /// A restore token is offered only if a sign-in would reach the account, and never for an idle phone number.
    case deleted(uid: UUID, purgeAfter: Date, offersRestore: Bool)
    /// Ends the grace period of the account, and signs in to it.
    case restore(by: AccountMatch, purgeAfter: Date)
    case disabled
    /// The account has as many identities as its application allows.
    case full
    case refuse
}

/// How evidence matches an existing account.
package enum AccountMatch: Sendable, Equatable {
    case known(KnownIdentity)
    /// The identity is new and joins the account that owns its address.
    case joining(NewIdentity, uid: UUID)

    package var uid: UUID {
        switch self {
        case .known(let identity): identity.uid
        case .joining(_, let uid): uid
        }
    }
}

package struct NewIdentity: Sendable, Equatable {
    /// Proved addresses without an owner, which the account will own.
    package var claiming: [Address]
    /// Proved addresses that the account will own or owns already.
    package var showing: [Address]
    /// The former owner of a recycled phone number.
    package var displacing: AddressOwner?

    /// Creates an identity that shows the addresses that it claims, unless `showing` is given.
    package init(claiming: [Address] = [], showing: [Address]? = nil, displacing: AddressOwner? = nil) {
        self.claiming = claiming
        self.showing = showing ?? claiming
        self.displacing = displacing
    }
}

// MARK: - Writing

extension LinkingVerdict {
    var isSuccess: Bool {
        switch outcome {
        case .signIn, .create, .link, .upgrade, .replaceGuest, .restore: true
        case .conflict, .otherSignInRequired, .deleted, .disabled, .full, .refuse: false
        }
    }

    /// Whether the refusal issues a ticket or token for an account.
    var issuesProof: Bool {
        switch outcome {
        case .conflict(_, let offersMerge): offersMerge
        case .deleted(_, _, let offersRestore): offersRestore
        case .otherSignInRequired: true
        case .signIn, .create, .link, .upgrade, .replaceGuest, .restore, .disabled, .full, .refuse: false
        }
    }

    /// Whether a single statement carries out the verdict, provided that `writesBesideSession` is false.
    var isOneStatement: Bool {
        switch outcome {
        case .signIn(.known), .otherSignInRequired, .deleted, .disabled, .full, .refuse: true
        case .create(let identity): identity.claiming.isEmpty && identity.displacing == nil
        case .signIn(.joining), .link, .upgrade, .replaceGuest, .restore, .conflict: false
        }
    }

    /// The account that the identity joins or restores, or that loses its phone number.
    var changedAccount: UUID? {
        switch outcome {
        case .signIn(.joining(_, let uid)): uid
        case .restore(let match, _): match.uid
        case .create(let identity): identity.displacing?.uid
        default: nil
        }
    }
}
