package import Foundation
package import ProviderKit

/// A change of an account, for external systems.
///
/// It identifies people only by `uid` and other ids, never by an address.
package struct AccountEvent: Sendable {
    /// The kinds that webhooks subscribe to.
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
    /// The same for every webhook and attempt, so that receivers can drop duplicates.
    package let id: UUID
    /// Members besides `uid` and `application`, which it cannot replace, such as a receipt.
    package let details: [String: JSONValue]

    package init(_ kind: Kind, of uid: UUID, details: [String: JSONValue] = [:]) {
        self.kind = kind
        self.uid = uid
        id = .v7()
        self.details = details
    }
}

extension AccountEvent {
    /// An identity was linked or unlinked.
    package static func identity(_ kind: Kind, _ identity: UUID, of uid: UUID, provider: String) -> AccountEvent {
        AccountEvent(kind, of: uid, details: ["identity": .string(identity.text), "provider": .string(provider)])
    }

    /// Two accounts were merged, or a merge was undone.
    static func merge(_ kind: Kind, _ merge: Merge) -> AccountEvent {
        AccountEvent(
            kind, of: merge.survivor,
            details: [
                "merge": .string(merge.id.text), "survivor": .string(merge.survivor.text),
                "absorbed": .string(merge.absorbed.text),
            ])
    }
}
