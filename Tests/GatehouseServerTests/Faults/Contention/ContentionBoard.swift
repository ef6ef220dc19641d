import Synchronization

/// The tokens that the clients of one contention test share.
final class ContentionBoard: Sendable {
    private struct State {
        var people: [Person] = []
        var notes: [String: [String]] = [:]
        var answers: [String: Int] = [:]
    }

    private static let kept = 12
    private let state = Mutex(State())

    var answers: [String: Int] { state.withLock { $0.answers } }
    var people: [Person] { state.withLock { $0.people } }

    /// Stores a person's tokens and keeps only the latest ones, because most older sessions have ended.
    func remember(_ person: Person) {
        state.withLock { state in
            state.people = state.people.suffix(Self.kept - 1) + [person]
        }
    }

    func remember(_ note: String, as kind: String) {
        state.withLock { state in
            state.notes[kind] = state.notes[kind, default: []].suffix(Self.kept - 1) + [note]
        }
    }

    func notes(_ kind: String) -> [String] { state.withLock { $0.notes[kind] ?? [] } }

    func count(_ answer: String) { state.withLock { $0.answers[answer, default: 0] += 1 } }
}
