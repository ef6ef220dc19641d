/// One SQL statement, known at compile time; values enter it only as binds (`$1`, `$2` …).
package struct Statement: Sendable, Hashable {
    package enum Access: Sendable {
        /// Changes nothing in the database.
        ///
        /// The statement may share one implicit transaction with other reads, and is sent again after a lost
        /// connection.
        case read
        /// Runs in a transaction of its own and is sent at most once.
        case write
    }

    package let access: Access
    package let text: String
    /// The FNV-1a hash of the text, which identifies the statement and from which its name on the server is derived.
    let fingerprint: UInt64

    /// Creates a statement from one or more parts, which are joined by line breaks; a part may be shared by several
    /// statements.
    package init(_ access: Access, _ parts: StaticString...) {
        self.access = access
        text = parts.map(\.description).joined(separator: "\n")
        fingerprint = Fingerprint.empty.adding(text.utf8).value
    }

    package static func == (left: Self, right: Self) -> Bool {
        left.fingerprint == right.fingerprint && left.access == right.access
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(fingerprint) }
}

/// FNV-1a, 64 bits; its input is the program's own SQL, so collisions can't be provoked.
struct Fingerprint {
    static let empty = Self(value: 0xcbf2_9ce4_8422_2325)

    var value: UInt64

    func adding(_ bytes: some Sequence<UInt8>) -> Self {
        Self(value: bytes.reduce(value) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 })
    }

    func adding(_ types: [UInt32]) -> Self { Self(value: types.reduce(value) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }) }
}
