package import Foundation
package import ProviderKit

/// Something that happened to an account, for the systems around it.
///
/// It names people by `uid` and ids alone: what leaves the house holds no address.
package struct AccountEvent: Sendable {
    /// The names that webhooks subscribe to.
    package enum Kind: String, Sendable, CaseIterable {
        case accountCreated = "account.created"
        case accountDeleted = "account.deleted"
        case accountRestored = "account.restored"
        case accountErased = "account.erased"
        case accountMerged = "account.merged"
        case accountUnmerged = "account.unmerged"
        case identityLinked = "identity.linked"
        case identityUnlinked = "identity.unlinked"
    }

    package let kind: Kind
    package let uid: UUID
    /// The same for every webhook and every attempt, so that receivers can drop repetitions.
    package let id: UUID
    /// What is told beside `uid` and `application`, such as a receipt; those two can't be replaced.
    package let details: [String: JSONValue]

    package init(_ kind: Kind, of uid: UUID, details: [String: JSONValue] = [:]) {
        self.kind = kind
        self.uid = uid
        id = .v7()
        self.details = details
    }
}

extension AccountEvent {
    /// About an identity that joined or left the account.
    package static func identity(
        _ kind: Kind, _ identity: UUID, of uid: UUID, provider: String
    ) -> AccountEvent {
        AccountEvent(
            kind, of: uid, details: ["identity": .string(identity.text), "provider": .string(provider)])
    }

    /// About two accounts that became one, or parted again.
    static func merge(_ kind: Kind, _ merge: Merge) -> AccountEvent {
        AccountEvent(
            kind, of: merge.survivor,
            details: [
                "merge": .string(merge.id.text), "survivor": .string(merge.survivor.text),
                "absorbed": .string(merge.absorbed.text),
            ])
    }
}
