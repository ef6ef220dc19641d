internal import Synchronization

/// Counts what becomes of sign-ins that another device answers, since this replica has started.
package final class HandoffCounts: Sendable {
    package enum Kind: String, Sendable, CaseIterable { case qr, device }

    package enum Outcome: String, Sendable, CaseIterable {
        /// A code was made.
        case shown
        case confirmed, refused
        /// Another number was typed than the one that the page shows.
        case wrongNumber = "wrong_number"
        /// The device that has asked was signed in.
        case used
    }

    package struct Key: Hashable, Sendable {
        package let kind: Kind
        package let outcome: Outcome
    }

    private let counts = Mutex<[Key: Int]>([:])

    package init() {}

    package var all: [Key: Int] { counts.withLock { $0 } }

    func add(_ kind: Kind, _ outcome: Outcome) {
        counts.withLock { $0[Key(kind: kind, outcome: outcome), default: 0] += 1 }
    }
}
