package import Foundation
package import ProviderKit

/// One of two accounts to merge.
package struct MergeSide: Sendable, Equatable {
    package var uid: UUID
    package var createdAt: Date
    package var displayName: String?
    package var metadata: [String: JSONValue]
    package var identities: [Identity]
    package var addresses: [Address]
    package var sessions: Int
    /// For each role of the account as an administrator, the identities in whose sessions it counts.
    package var roles: [[UUID]] = []

    package init(
        uid: UUID, createdAt: Date, displayName: String?, metadata: [String: JSONValue],
        identities: [Identity], addresses: [Address], sessions: Int
    ) {
        (self.uid, self.createdAt, self.displayName, self.metadata) = (uid, createdAt, displayName, metadata)
        (self.identities, self.addresses, self.sessions) = (identities, addresses, sessions)
    }

    package var isGuest: Bool { identities.allSatisfy(\.isGuest) }
}

/// The changes that a merge makes; the absorbed account keeps its values too, so that an undo loses nothing.
package struct MergePlan: Sendable, Equatable {
    package let survivor, absorbed: UUID
    /// The absorbed account's identities, which move to the survivor.
    package let identities: [Identity]
    package let addresses: [Address]
    /// The absorbed account's display name, if the survivor has none.
    package let displayName: String?
    package let metadata: [String: JSONValue]
    /// Names of the values that do not move, such as `metadata.theme`: the survivor has another one, or the metadata of
    /// both together would be too large.
    package let collisions: [String]
    /// The guest identities that the merge removes.
    package let guests: [Identity]
    package let endedSessions: Int
    /// The identities of two permanent accounts, which count as linked by the merge.
    ///
    /// A stolen session of one account suffices to merge it with an intruder's account, from either side. A later
    /// password reset therefore quarantines all of these identities except the one whose mailbox it proves.
    package let newlyLinked: [UUID]
    /// Whether the survivor is a guest that the merge makes permanent.
    let upgradesSurvivor: Bool

    /// Plans the merge into `preferred`, by default a permanent account rather than a guest, then the older account.
    package init(_ own: MergeSide, _ other: MergeSide, survivor preferred: UUID? = nil) {
        let byAge = [own, other].sorted {
            ($0.isGuest ? 1 : 0, $0.createdAt, $0.uid.text) < ($1.isGuest ? 1 : 0, $1.createdAt, $1.uid.text)
        }
        let survives = preferred ?? byAge[0].uid
        self.init(survivor: own.uid == survives ? own : other, absorbed: own.uid == survives ? other : own)
    }

    init(survivor: MergeSide, absorbed: MergeSide) {
        self.survivor = survivor.uid
        self.absorbed = absorbed.uid
        identities = absorbed.identities.filter { !$0.isGuest }
        newlyLinked =
            survivor.isGuest || absorbed.isGuest
            ? [] : (survivor.identities + absorbed.identities).filter { !$0.isGuest }.map(\.id)
        addresses = absorbed.addresses
        displayName = survivor.displayName == nil ? absorbed.displayName : nil
        let missing = absorbed.metadata.filter { survivor.metadata[$0.key] == nil }
        let both = survivor.metadata.merging(missing) { own, _ in own }
        let fits = (try? Profile.check(metadata: .object(both))) != nil
        metadata = fits ? missing : [:]
        let kept = fits ? both : survivor.metadata
        let names =
            survivor.displayName != nil && absorbed.displayName != nil && survivor.displayName != absorbed.displayName
            ? ["displayName"] : []
        collisions =
            names
            + absorbed.metadata.keys.sorted()
            .filter { kept[$0] != absorbed.metadata[$0] }
            .map { "metadata.\($0)" }
        // The survivor's guest identities are removed if it gets another identity, since it is then no longer a guest.
        guests =
            (identities.isEmpty ? [] : survivor.identities.filter(\.isGuest)) + absorbed.identities.filter(\.isGuest)
        upgradesSurvivor = survivor.isGuest && !identities.isEmpty
        endedSessions = absorbed.sessions + (upgradesSurvivor ? survivor.sessions : 0)
    }
}

/// Two accounts that a ticket permits merging: the current session's and the ticket's.
package struct MergePreview: Sendable {
    package let current, other: MergeSide
    /// The time at which the accounts were read.
    package let time: Date

    /// The plan of the merge into the chosen account, by default the older permanent one.
    /// - Throws: `AccountsError.limitReached` if the survivor would have too many identities.
    package func plan(
        _ survivor: SurvivorChoice?, in application: Application
    ) throws(AccountsError) -> MergePlan {
        let plan = MergePlan(current, other, survivor: survivor.map { $0 == .current ? current.uid : other.uid })
        let limit = application.policy.maximumIdentities
        let count = (current.identities + other.identities).count { !$0.isGuest }
        guard plan.identities.isEmpty || count <= limit else {
            throw .limitReached(limit: limit, LinkingRule.accountFull.refusal)
        }
        return plan
    }
}

/// The account that the person chose as the survivor: the current session's or the ticket's.
package enum SurvivorChoice: String, Sendable, SentChoice { case current, other }
