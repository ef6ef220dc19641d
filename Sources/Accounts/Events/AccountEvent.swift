package import Foundation
package import ProviderKit

/// A change to an account that is reported to external systems, by `uid` and other ids but never by an address.
package struct AccountEvent: Sendable {
    /// The kinds that webhooks subscribe to.
    package enum Kind: String, Sendable, CaseIterable {
        case accountCreated = "account.created"
        case accountDeleted = "account.deleted"
        case accountRestored = "account.restored"
        case accountErased = "account.erased"
        case accountMerged = "account.merged"
        case accountUnmerged = "account.unmerged"
        /// An administrator has changed the roles or the claims.
        case accountChanged = "account.changed"
        case identityLinked = "identity.linked"
        case identityUnlinked = "identity.unlinked"
    }

    package let kind: Kind
    package let uid: UUID
    /// The id of the event, the same for every webhook and attempt, so that receivers can discard duplicates.
    package let id: UUID
    /// Additional members of the event's JSON object, such as a receipt; they cannot replace `uid` and `application`.
    package let details: [String: JSONValue]

    package init(_ kind: Kind, of uid: UUID, details: [String: JSONValue] = [:]) {
        (self.kind, self.uid) = (kind, uid)
        id = .v7()
        self.details = details
    }

    package static func identity(_ kind: Kind, _ identity: UUID, of uid: UUID, provider: String) -> AccountEvent {
        AccountEvent(kind, of: uid, details: ["identity": .string(identity.text), "provider": .string(provider)])
    }

    static func merge(_ kind: Kind, _ merge: Merge) -> AccountEvent {
        AccountEvent(
            kind, of: merge.survivor,
            details: [
                "merge": .string(merge.id.text), "survivor": .string(merge.survivor.text),
                "absorbed": .string(merge.absorbed.text),
            ])
    }
}
