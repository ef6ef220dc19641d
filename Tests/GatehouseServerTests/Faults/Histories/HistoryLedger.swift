import Synchronization

/// Records the responses that all clients of a history received.
final class HistoryLedger: Sendable {
    struct Entries: Sendable {
        /// Every access token ever issued, with the id and the generation of its session.
        var issued: [(token: String, session: String)] = []
        /// Responses that docs/api.md does not allow, or that contradict the call.
        var oddities: [String] = []
        /// The number of calls by call and response.
        var answers: [String: Int] = [:]
    }

    private let state = Mutex(Entries())

    var entries: Entries { state.withLock { $0 } }

    /// Returns the number of calls whose entry has this prefix.
    func count(_ prefix: String) -> Int {
        state.withLock { $0.answers.reduce(0) { $0 + ($1.key.hasPrefix(prefix) ? $1.value : 0) } }
    }

    func note(_ token: String, ofSession session: String) {
        state.withLock { $0.issued.append((token, session)) }
    }

    func note(oddity: String) {
        state.withLock { $0.oddities.append(oddity) }
    }

    func note(answer: String) {
        state.withLock { $0.answers[answer, default: 0] += 1 }
    }
}
