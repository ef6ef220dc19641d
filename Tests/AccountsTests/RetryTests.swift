import Testing

@testable import Accounts

/// How often conflicting changes are repeated.
struct RetryTests {
    @Test func `a call is repeated twice under contention, even if its time is over`() async throws {
        for conflicts in 0...3 {
            var calls = 0
            let outcome = try await result {
                try await retryingUnderContention(for: .zero) {
                    calls += 1
                    if calls <= conflicts { throw StoreConflict(isTransient: true) }
                }
            }
            #expect(outcome == (conflicts < 3) && calls == min(conflicts + 1, 3), "\(conflicts) conflicts")
        }
    }

    @Test func `a decision is repeated seven times, with pauses after the first repetition`() async throws {
        for conflicts in [0, 1, 7, 8] {
            var calls = 0
            let start = ContinuousClock.now
            let outcome = try await result {
                try await retryingOnConflict {
                    calls += 1
                    if calls <= conflicts { throw StoreConflict() }
                }
            }
            #expect(outcome == (conflicts < 8) && calls == min(conflicts + 1, 8), "\(conflicts) conflicts")
            #expect(.now - start >= .milliseconds(max(0, calls - 2)))
        }
    }

    /// Returns whether the body succeeded; `false` if it was unavailable.
    private func result(_ body: () async throws -> Void) async throws -> Bool {
        do {
            try await body()
            return true
        } catch AccountsError.unavailable {
            return false
        }
    }
}
