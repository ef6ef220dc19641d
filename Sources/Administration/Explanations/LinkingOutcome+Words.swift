package import Accounts
internal import Foundation
internal import ProviderKit

extension LinkingOutcome {
    /// The outcome as a predicate of the identity, as in "signs in to UID".
    package var words: String {
        switch self {
        case .signIn(.known(let identity)): "signs in to \(identity.uid.text)"
        case .signIn(.joining(_, let uid)): "joins \(uid.text) and signs in to it"
        case .restore(let match, _): "restores \(match.uid.text) and signs in to it"
        case .create: "opens a new account"
        case .link(_, let uid): "is linked to \(uid.text)"
        case .upgrade(_, let guest): "makes the guest \(guest.text) permanent"
        case .replaceGuest(let entry, let isAbsorbed):
            isAbsorbed ? "\(entry.uid.text) absorbs the guest" : "leaves the guest for \(entry.uid.text)"
        case .conflict(with: let uid, offersMerge: true): "is refused, with a ticket to merge with \(uid.text)"
        case .conflict(with: let uid, offersMerge: false):
            "is refused, without a ticket: a sign-in would not reach \(uid.text)"
        case .otherSignInRequired(of: let uid, subject: _):
            "is refused until \(uid.text) is signed in to in another way"
        case .deleted(uid: let uid, purgeAfter: _, offersRestore: true):
            "is refused, with a token that restores \(uid.text)"
        case .deleted(uid: let uid, purgeAfter: _, offersRestore: false):
            "is refused, without a restore token: the proof does not sign in to \(uid.text)"
        case .disabled, .full, .refuse: "is refused"
        }
    }

    /// A stable name of the outcome, for programs.
    package var name: Name {
        switch self {
        case .signIn(.known): .signIn
        case .signIn(.joining): .join
        case .restore: .restore
        case .create: .create
        case .link: .link
        case .upgrade: .upgrade
        case .replaceGuest(_, isAbsorbed: true): .merge
        case .replaceGuest(_, isAbsorbed: false): .switch
        case .conflict, .otherSignInRequired, .deleted, .disabled, .full, .refuse: .refuse
        }
    }

    package enum Name: String, Sendable, CaseIterable {
        case signIn, join, restore, create, link, upgrade, merge, `switch`, refuse
    }
}

extension AccountStatus {
    /// The state of an account, as a complement of its uid.
    package var words: String {
        switch self {
        case .live: "live"
        case .disabled: "disabled"
        case .deleted: "being deleted"
        case .absorbed(let uid): "absorbed by \(uid.text)"
        }
    }
}
