internal import Accounts
internal import ProviderKit

struct MergeBody: Codable, Sendable {
    let mergeToken: String
    /// Tells what would happen; the ticket stays good.
    let dryRun: Bool?
    /// Whose `uid` survives; by default the older permanent account's.
    let survivor: SurvivorChoice?
}

/// What a merge would do.
struct MergePlanPayload: Codable, Sendable {
    struct Identity: Codable, Sendable {
        let id: String
        let provider: String
        let providerUid: String

        init(_ identity: Accounts.Identity) {
            id = identity.id.text
            provider = identity.provider
            providerUid = identity.providerUid
        }
    }

    /// The absorbed account's, then the survivor's.
    struct Moves: Codable, Sendable {
        let identities: [Identity]
        let addresses: [String]
        let displayName: String?
        let metadata: JSONValue
    }

    /// What nothing remains of: sessions, and guests' identities.
    struct Drop: Codable, Sendable {
        let kind: String
        let id: String?
        let count: Int?
    }

    let survivor: String
    let absorbed: String
    let moves: Moves
    /// What both have, and differently, as in `metadata.theme`: the survivor's stays.
    let collisions: [String]
    let drops: [Drop]

    init(_ plan: MergePlan) {
        survivor = plan.survivor.text
        absorbed = plan.absorbed.text
        moves = Moves(
            identities: plan.identities.map(Identity.init), addresses: plan.addresses.map(\.value),
            displayName: plan.displayName, metadata: .object(plan.metadata))
        collisions = plan.collisions
        drops =
            plan.guests.map { Drop(kind: "identity", id: $0.id.text, count: nil) }
            + (plan.endedSessions == 0 ? [] : [Drop(kind: "sessions", id: nil, count: plan.endedSessions)])
    }
}

/// A merge, as the survivor's owner sees it.
struct MergePayload: Codable, Sendable {
    let id: String
    let survivor: String
    let absorbed: String
    let mergedAt: Timestamp
    let undoUntil: Timestamp
    let undoneAt: Timestamp?

    init(_ merge: Merge) {
        id = merge.id.text
        survivor = merge.survivor.text
        absorbed = merge.absorbed.text
        mergedAt = Timestamp(merge.mergedAt)
        undoUntil = Timestamp(merge.undoUntil)
        undoneAt = merge.undoneAt.map(Timestamp.init)
    }
}

struct MergeList: Codable, Sendable {
    let merges: [MergePayload]
}

/// A session of the survivor, and what was merged.
struct MergeResponse: Codable, Sendable {
    let session: SessionResponse
    let merge: MergePayload

    private enum CodingKeys: String, CodingKey {
        case merge
    }

    init(session: SessionResponse, merge: MergePayload) {
        self.session = session
        self.merge = merge
    }

    init(from decoder: any Decoder) throws {
        session = try SessionResponse(from: decoder)
        merge = try decoder.container(keyedBy: CodingKeys.self).decode(MergePayload.self, forKey: .merge)
    }

    func encode(to encoder: any Encoder) throws {
        try session.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(merge, forKey: .merge)
    }
}

extension MergePayload: DocumentedFields {
    static var fields: [String: JSONSchema] { ["id": .uuid, "survivor": .uuid, "absorbed": .uuid] }
}

extension MergePlanPayload: DocumentedFields {
    static var fields: [String: JSONSchema] { ["survivor": .uuid, "absorbed": .uuid] }
}

extension MergePlanPayload.Drop: DocumentedFields {
    static var fields: [String: JSONSchema] { ["kind": .enumeration(["identity", "sessions"])] }
}

extension MergeResponse: DocumentedFields {
    static var fields: [String: JSONSchema] { SessionResponse.fields }
}
