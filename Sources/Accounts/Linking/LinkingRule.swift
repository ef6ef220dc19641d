/// The names and texts of the linking rules; `decide` in LinkingDecision.swift implements the rules themselves.
///
/// The raw values are stable: clients receive them in refusals, and `gatehouse explain` prints them.
package enum LinkingRule: String, Sendable, CaseIterable {
    case providerOff = "provider.off"
    case providerLinkOnly = "provider.link-only"
    case providerNoSignUp = "provider.no-sign-up"
    case guestNotLinkable = "guest.not-linkable"

    case identityKnown = "identity.known"
    case identityOwn = "identity.own"
    case identityInUse = "identity.in-use"
    case identityQuarantined = "identity.quarantined"
    case addressInUse = "address.in-use"
    case accountDisabled = "account.disabled"
    case accountDeleted = "account.deleted"
    case accountRestored = "account.restored"
    case accountFull = "account.full"
    case numberIdle = "number.idle"
    case numberRecycled = "number.recycled"

    case addressOwned = "address.owned"
    case addressOfSeveral = "address.of-several"
    case addressNotJoined = "address.not-joined"
    case addressProven = "address.proven"
    case addressUnproven = "address.unproven"
    case identityNew = "identity.new"

    case linkAsked = "link.asked"
    case guestUpgrade = "guest.upgrade"
    case guestSwitch = "guest.switch"
    case guestMerge = "guest.merge"

    case reauthenticationForeign = "reauthentication.foreign"
    case lastUsableIdentity = "identity.last-usable"
    case identityHasRole = "identity.has-role"
    case undoStrands = "merge.undo-strands"

    /// The reason for the verdict, as a text for people.
    package var reason: String {
        switch self {
        case .providerOff: "This provider is not enabled for this application"
        case .providerLinkOnly: "This provider can only be linked to an account that is signed in"
        case .providerNoSignUp: "This provider opens no new accounts"
        case .guestNotLinkable: "A guest has no identity that another account could link"
        case .identityKnown: "The identity is known, and opens its account"
        case .identityOwn: "The identity is already one of this account"
        case .identityInUse: "The identity belongs to another account"
        case .addressInUse: "The address belongs to another account"
        case .identityQuarantined: "The identity was linked shortly before a password reset"
        case .accountDisabled: "The account has been disabled"
        case .accountDeleted: "The account is being deleted"
        case .accountRestored: "The account is being deleted, and a sign-in restores it"
        case .accountFull: "The account has as many identities as the application allows"
        case .numberIdle: "The number was not used for so long that it may have a new owner"
        case .numberRecycled:
            "The number was not used for so long that its old account, which has no other way in, loses it"
        case .addressOwned: "The identity proves an address that one account owns, and joins it"
        case .addressOfSeveral: "The identity proves addresses of several accounts, and joins none"
        case .addressNotJoined: "The application joins no identities by their addresses"
        case .addressProven: "The identity proves an address without an owner"
        case .addressUnproven: "The identity's address is not verified, so the account does not own it"
        case .identityNew: "The identity is new"
        case .linkAsked: "The identity is new, and joins the account that is signed in"
        case .guestUpgrade: "The identity is new, and makes the guest's account permanent"
        case .guestSwitch: "The identity has an account, and the guest moves there"
        case .guestMerge: "The identity has an account, which absorbs the guest"
        case .reauthenticationForeign: "The proof is not of an identity of this account"
        case .lastUsableIdentity: "No remaining identity can sign in at the moment"
        case .identityHasRole: "The account has a role that does not count for the identity that was proved"
        case .undoStrands: "After the undo, one of the two accounts would have no way to sign in"
        }
    }

    /// What the person can do instead; empty if the rule does not refuse.
    package var remedies: [String] {
        switch self {
        case .providerOff: ["Sign in with one of the providers that GET /auth/providers lists."]
        case .providerLinkOnly, .providerNoSignUp: ["Sign in with another provider, then link this one."]
        case .guestNotLinkable: ["Link an identity of another provider."]
        case .identityInUse, .addressInUse:
            [
                "Sign in with it, to use the account that it belongs to.",
                "Merge the two accounts with POST /auth/merge and the ticket in mergeToken.",
            ]
        case .numberIdle:
            [
                "Sign in to the account in another way, and send the ticket along.",
                "Link another number, or sign up in another way.",
            ]
        case .identityQuarantined:
            [
                "Sign in to the account in another way, and send the ticket along.",
                "Keep the identity with the link in the mail that the reset sent.",
            ]
        case .accountDeleted: ["Restore the account with POST /auth/account/restore."]
        case .accountFull: ["Remove an identity of the account first."]
        case .accountDisabled: ["Ask the people who run the application."]
        case .reauthenticationForeign: ["Authenticate with one of the identities that GET /auth/identities lists."]
        case .lastUsableIdentity: ["Link another identity first.", "Delete the account with DELETE /auth/account."]
        case .identityHasRole: ["Authenticate with an identity that the account had when it got the role."]
        case .undoStrands: ["Link another identity to the account first."]
        case .identityKnown, .identityOwn, .accountRestored, .numberRecycled, .addressOwned, .addressOfSeveral,
            .addressNotJoined, .addressProven, .addressUnproven, .identityNew, .linkAsked, .guestUpgrade, .guestSwitch,
            .guestMerge:
            []
        }
    }

    package var refusal: Refusal { Refusal(rule: rawValue, reason: reason, remedies: remedies) }

    /// The refusal for a proof that gets no ticket, because a sign-in with it would not reach the account.
    package var refusalWithoutTicket: Refusal {
        let remedies =
            self == .accountDeleted
            ? ["Sign in to the account in another way, which offers to restore it."]
            : ["Sign in to the other account in another way, and remove the identity or the address there."]
        return Refusal(rule: rawValue, reason: reason, remedies: remedies)
    }
}
