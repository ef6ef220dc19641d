public import Foundation

extension GatehouseClient {
    /// The account whose `uid` survives a merge.
    public enum Survivor: String, Sendable {
        /// The account that is signed in.
        case current
        /// The account that the ticket is for.
        case other
    }

    /// What a merge would do.
    public struct MergePlan: Sendable, Hashable, Codable {
        /// What moves to the survivor.
        public struct Moves: Sendable, Hashable, Codable {
            /// An identity that moves.
            public struct Moved: Sendable, Hashable, Codable {
                /// The identity's id.
                public let id: String
                /// The provider's name.
                public let provider: String
                /// The identity's id at the provider.
                public let providerUid: String
            }

            /// The identities that move.
            public let identities: [Moved]
        }

        /// Something that is lost.
        public struct Drop: Sendable, Hashable, Codable {
            /// `identity` for that of a guest, or `sessions`.
            public let kind: String
            /// The identity's id.
            public let id: String?
            /// How many sessions end.
            public let count: Int?
        }

        /// The `uid` that stays.
        public let survivor: String
        /// The `uid` that becomes an alias.
        public let absorbed: String
        /// What moves to the survivor.
        public let moves: Moves
        /// The names of values that do not move, such as `metadata.theme`: the survivor has another one, or the metadata of
        /// both together would be too large.
        public let collisions: [String]
        /// What is lost.
        public let drops: [Drop]
    }

    /// A merge of two accounts.
    public struct Merge: Sendable, Hashable, Codable, Identifiable {
        /// The id with which it is undone.
        public let id: String
        /// The `uid` that stayed.
        public let survivor: String
        /// The `uid` that became an alias.
        public let absorbed: String
        /// Until when it can be undone.
        public let undoUntil: Date
        /// When it was undone.
        public let undoneAt: Date?
    }
}
