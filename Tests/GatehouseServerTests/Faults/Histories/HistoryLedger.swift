import Synchronization

/// The responses that all clients of a history got.
final class HistoryLedger: Sendable {
    struct Entries: Sendable {
        /// Every access token ever issued, with the id and the generation of its session.
        var issued: [(token: String, session: String)] = []
        /// Responses that docs/api.md does not allow, or that contradict the call.
        var oddities: [String] = []
        /// How often each call was answered how.
        var answers: [String: Int] = [:]
    }

    private let state = Mutex(Entries())

    var entries: Entries { state.withLock { $0 } }

    /// How often an answer begins like this.
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
