package import Accounts
internal import ProviderKit

/// The effects that a merge would have.
extension MergePlan: ResponsePayload {
    package static let fields = ResponseFields<Self>("MergePlan") {
        Field("survivor", \.survivor)
        Field("absorbed", \.absorbed)
        Field("moves") { Moves(plan: $0) }
        // The names of values that do not move, such as `metadata.theme`: the surviving account has another one, or the
        // metadata of both together would be too large.
        Field("collisions", \.collisions)
        Field("drops", \.drops)
    }

    /// What the merge removes or ends.
    var drops: [Drop] {
        guests.map { Drop(kind: .identity, id: $0.id.text) }
            + (endedSessions == 0 ? [] : [Drop(kind: .sessions, count: endedSessions)])
    }

    /// The data that moves from the absorbed account to the surviving account.
    private struct Moves: ResponsePayload {
        let plan: MergePlan

        static let fields = ResponseFields<Self>("MergePlanMoves") {
            Field("identities", \.plan.identities)
            Field("addresses") { $0.plan.addresses.map(\.value) }
            Field("displayName", ifAny: \.plan.displayName)
            Field("metadata") { JSONValue.object($0.plan.metadata) }
        }
    }

    /// A guest's identity or the sessions that the merge removes.
    struct Drop: ResponsePayload {
        enum Kind: String, CaseIterable { case identity, sessions }

        let kind: Kind
        var id: String?
        var count: Int?

        static let fields = ResponseFields<Self>("MergePlanDrop") {
            Field("kind", as: .choice(of: Kind.self), \.kind.rawValue)
            Field("id", ifAny: \.id)
            Field("count", ifAny: \.count)
        }
    }
}

/// An identity in the plan of a merge.
extension Identity: ResponsePayload {
    package static let fields = ResponseFields<Self>("MergePlanIdentity") {
        Field("id", \.id.text)
        Field("provider", \.provider)
        Field("providerUid", \.providerUid)
    }
}

/// A completed merge, as shown to the owner of the surviving account.
extension Merge: ResponsePayload {
    package static let fields = ResponseFields<Self>("Merge") {
        Field("id", \.id)
        Field("survivor", \.survivor)
        Field("absorbed", \.absorbed)
        Field("mergedAt", \.mergedAt)
        Field("undoUntil", \.undoUntil)
        Field("undoneAt", ifAny: \.undoneAt)
    }
}

struct MergeList: ResponsePayload {
    let merges: [Merge]

    static let fields = ResponseFields<Self>("MergeList") { Field("merges", \.merges) }
}

/// A session of the surviving account, and the merge.
struct MergeResponse: ResponsePayload {
    let session: SignedIn
    let merge: Merge

    static let fields = ResponseFields<Self>("MergeResponse") {
        Field(flattening: \.session)
        Field("merge", \.merge)
    }
}
