import Synchronization

/// What servers acknowledged to the clients of a `FaultLoad`, and how they answered.
final class FaultJournal: Sendable {
    /// An account whose session is live.
    struct Account: Sendable {
        let uid: String
        var accessToken: String
        var refreshToken: String
        /// The subject of the linked identity of `Partner`.
        var subject: String?

        init(_ person: Person) {
            uid = person.uid
            accessToken = person.accessToken
            refreshToken = person.refreshToken
        }
    }

    struct Erasure: Sendable {
        let account: Account
        /// The path of the receipt.
        let receipt: String
    }

    struct Entries: Sendable {
        var accounts: [String: Account] = [:]
        /// The addresses whose registration was acknowledged.
        var registrations: [String] = []
        /// Accounts that were logged out.
        var logouts: [Account] = []
        var erasures: [Erasure] = []
        /// The number of successful calls, by name.
        var served: [String: Int] = [:]
        /// The number of well-formed 503 responses.
        var refused = 0
        /// The number of calls that got no response.
        var unanswered = 0
        var slowest: Duration = .zero
        /// The longest time after the acknowledgement of a logout at which a request with its bearer was sent and
        /// served.
        var servedAfterLogout: Duration = .zero
        /// Responses that are neither a success nor a well-formed 503.
        var oddities: [String] = []

        var total: Int { served.values.reduce(0, +) }
    }

    private let state = Mutex(Entries())

    var entries: Entries { state.withLock { $0 } }

    func note(_ change: (inout Entries) -> Void) {
        state.withLock { change(&$0) }
    }

    func note(_ account: Account) {
        state.withLock { $0.accounts[account.uid] = account }
    }
}

extension FaultJournal.Entries: CustomStringConvertible {
    var description: String {
        let calls = served.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        return """
            served: \(calls); refused \(refused), unanswered \(unanswered), slowest \(slowest.milliseconds) ms; \
            acknowledged: \(accounts.count) accounts, \(registrations.count) registrations, \(logouts.count) logouts, \
            \(erasures.count) erasures; served up to \(servedAfterLogout.milliseconds) ms after a logout
            """
    }
}
