internal import Accounts
internal import Synchronization

/// Bounds how many calls of administrators a replica runs at once, so that sign-ins never wait for them.
package final class AdminCapacity: Sendable {
    package static let calls = 4
    private let running = Mutex(0)

    package init() {}

    /// - Throws: `AccountsError.overloaded` if `calls` are running already.
    package func run<Result>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
    ) async throws -> Result {
        let isFree = running.withLock { count in
            guard count < Self.calls else { return false }
            count += 1
            return true
        }
        guard isFree else { throw AccountsError.overloaded(retryAfter: .seconds(1)) }
        defer { running.withLock { $0 -= 1 } }
        return try await body()
    }
}
