public import Foundation

extension GatehouseClient {
    /// The account whose `uid` survives a merge.
    public enum Survivor: String, Sendable {
        /// The account that is signed in.
        case current
        /// The other account, to which the identity belongs.
        case other
    }

    /// The effects that a merge would have.
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
            /// `identity` for a guest's identity, or `sessions`.
            public let kind: String
            /// The id of the identity, for the kind `identity`.
            public let id: String?
            /// How many sessions end, for the kind `sessions`.
            public let count: Int?
        }

        /// The `uid` that stays.
        public let survivor: String
        /// The `uid` that becomes an alias.
        public let absorbed: String
        /// What moves to the survivor.
        public let moves: Moves
        /// The names of values that do not move, such as `metadata.theme`: the survivor has another value, or the
        /// combined metadata would be too large.
        public let collisions: [String]
        /// What is lost.
        public let drops: [Drop]
    }

    /// A merge of two accounts.
    public struct Merge: Sendable, Hashable, Codable, Identifiable {
        /// The id of the merge, for `undoMerge`.
        public let id: String
        /// The `uid` that stayed.
        public let survivor: String
        /// The `uid` that became an alias.
        public let absorbed: String
        /// Until when it can be undone.
        public let undoUntil: Date
        /// When it was undone; `nil` if it was not.
        public let undoneAt: Date?
    }
}
