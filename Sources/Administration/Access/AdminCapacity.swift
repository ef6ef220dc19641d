internal import Accounts
internal import Synchronization

/// Bounds how many calls of administrators a replica runs at once, so that sign-ins never wait for them.
package final class AdminCapacity: Sendable {
    private static let pause: Duration = .milliseconds(20)
    package let places: Int
    private let patience: Duration
    private let running = Mutex(0)

    /// A further call waits for `patience`, and is then refused.
    package init(places: Int, patience: Duration = .seconds(5)) {
        (self.places, self.patience) = (places, patience)
    }

    /// Allows four calls at once, or fewer if the replica has fewer than six connections for transactions.
    ///
    /// One connection stays free for a plan or switch, which has a place of its own, and one for people.
    package convenience init(transactions: Int) { self.init(places: min(4, max(1, transactions - 2))) }

    /// A patient call, which is in no hurry, waits as long as it takes.
    /// - Throws: `AccountsError.overloaded` if no place becomes free within `patience`.
    package func run<Output>(
        isPatient: Bool = false, isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Output
    ) async throws -> Output {
        let start = ContinuousClock.now
        while !takePlace() {
            guard isPatient || start.duration(to: .now) < patience else {
                throw AccountsError.overloaded(retryAfter: .seconds(1))
            }
            try await Task.sleep(for: Self.pause)
        }
        defer { running.withLock { $0 -= 1 } }
        return try await body()
    }

    private func takePlace() -> Bool {
        running.withLock { count in
            guard count < places else { return false }
            count += 1
            return true
        }
    }
}
