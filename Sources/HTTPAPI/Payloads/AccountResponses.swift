internal import Accounts
internal import Foundation
internal import ProviderKit

/// The effects that a merge would have.
struct MergePlanPayload: ResponsePayload {
    struct Identity: ResponsePayload {
        let identity: Accounts.Identity

        static let fields = ResponseFields<Self>("MergePlanIdentity") {
            Field("id", \.identity.id.text)
            Field("provider", \.identity.provider)
            Field("providerUid", \.identity.providerUid)
        }
    }

    /// The data that moves from the absorbed account to the surviving account.
    struct Moves: ResponsePayload {
        let plan: MergePlan

        static let fields = ResponseFields<Self>("MergePlanMoves") {
            Field("identities") { $0.plan.identities.map(Identity.init) }
            Field("addresses") { $0.plan.addresses.map(\.value) }
            Field("displayName", ifAny: \.plan.displayName)
            Field("metadata") { JSONValue.object($0.plan.metadata) }
        }
    }

    /// A guest's identity or the sessions that the merge removes.
    struct Drop: ResponsePayload {
        let kind: String
        var id: String?
        var count: Int?

        static let fields = ResponseFields<Self>("MergePlanDrop") {
            Field("kind", as: .enumeration(["identity", "sessions"]), \.kind)
            Field("id", ifAny: \.id)
            Field("count", ifAny: \.count)
        }
    }

    let plan: MergePlan

    init(_ plan: MergePlan) { self.plan = plan }

    private var drops: [Drop] {
        plan.guests.map { Drop(kind: "identity", id: $0.id.text) }
            + (plan.endedSessions == 0 ? [] : [Drop(kind: "sessions", count: plan.endedSessions)])
    }

    static let fields = ResponseFields<Self>("MergePlan") {
        Field("survivor", \.plan.survivor)
        Field("absorbed", \.plan.absorbed)
        Field("moves") { Moves(plan: $0.plan) }
        // The names of values that differ, such as `metadata.theme`; the surviving account keeps its own values.
        Field("collisions", \.plan.collisions)
        Field("drops", \.drops)
    }
}

/// A completed merge, as shown to the owner of the surviving account.
struct MergePayload: ResponsePayload {
    let merge: Merge

    init(_ merge: Merge) { self.merge = merge }

    static let fields = ResponseFields<Self>("Merge") {
        Field("id", \.merge.id)
        Field("survivor", \.merge.survivor)
        Field("absorbed", \.merge.absorbed)
        Field("mergedAt", \.merge.mergedAt)
        Field("undoUntil", \.merge.undoUntil)
        Field("undoneAt", ifAny: \.merge.undoneAt)
    }
}

struct MergeList: ResponsePayload {
    let merges: [MergePayload]

    static let fields = ResponseFields<Self>("MergeList") { Field("merges", \.merges) }
}

/// A session of the surviving account, and the merge.
struct MergeResponse: ResponsePayload {
    let session: SessionResponse
    let merge: MergePayload

    static let fields = ResponseFields<Self>("MergeResponse") {
        Field(flattening: \.session)
        Field("merge", \.merge)
    }
}

/// The progress of a deletion.
struct ErasureResponse: ResponsePayload {
    struct Processor: ResponsePayload {
        let processor: Accounts.Processor

        private var status: String {
            switch processor.status {
            case .pending: "pending"
            case .acknowledged: "acknowledged"
            case .unreachable: "unreachable"
            }
        }

        private var acknowledgedAt: Date? {
            if case .acknowledged(let date) = processor.status { date } else { nil }
        }

        static let fields = ResponseFields<Self>("ErasureResponseProcessor") {
            Field("name", \.processor.name)
            Field("status", as: .enumeration(["pending", "acknowledged", "unreachable"]), \.status)
            Field("acknowledgedAt", ifAny: \.acknowledgedAt)
        }
    }

    let erasure: ErasureStatus

    init(_ erasure: ErasureStatus) { self.erasure = erasure }

    static let fields = ResponseFields<Self>("ErasureResponse") {
        Field("status", as: .enumeration(["scheduled", "restored", "erased"]), \.erasure.phase.rawValue)
        Field("requestedAt", \.erasure.requestedAt)
        Field("purgeAfter", \.erasure.purgeAfter)
        Field("erasedAt", ifAny: \.erasure.erasedAt)
        Field("processors") { $0.erasure.processors.map(Processor.init) }
        // A JWS with the header `typ: erasure+jwt`.
        Field("certificate", ifAny: \.erasure.certificate)
    }
}
