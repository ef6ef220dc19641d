import Testing

@testable import Passwords

struct HashingPlacesTests {
    private func places(
        waiting: Int, running: Int = 2, threads: Int = 2, average: Duration = .milliseconds(100),
        wait: Duration = .seconds(1), length: Int = 512
    ) -> HashingPlaces {
        HashingPlaces(
            threads: threads, running: running, waiting: waiting, averageDuration: average,
            limits: .init(wait: wait, length: length))
    }

    /// Twenty places: two threads, ten jobs each in the second that a caller bears.
    @Test(
        arguments: [
            (0, 0, nil), (19, 0, nil), (20, 0, .full), (500, 0, .full),
            // Alone, a network has half of them.
            (9, 9, nil), (10, 10, .network),
            // Beside others, as many as are left.
            (13, 6, nil), (13, 7, .network), (18, 1, nil), (18, 2, .network),
        ] as [(Int, Int, HashingRefusal?)])
    func `nobody holds more places than are left`(waiting: Int, held: Int, reason: HashingRefusal?) {
        #expect(places(waiting: waiting).refusal(holding: [(.network, held)])?.reason == reason)
        let bySubject = places(waiting: waiting).refusal(holding: [(.network, 0), (.subject, held)])?.reason
        #expect(bySubject == (reason == .network ? .subject : reason))
    }

    @Test(arguments: [1, 2, 3, 5, 9])
    func `however many flood, somebody new finds a place`(floods: Int) {
        var held = [Int](repeating: 0, count: floods)
        // Each takes all it gets, in turn, until nobody gets any more.
        var isGrowing = true
        while isGrowing {
            isGrowing = false
            for index in held.indices {
                let state = places(waiting: held.reduce(0, +))
                guard state.refusal(holding: [(.network, held[index])]) == nil else { continue }
                held[index] += 1
                isGrowing = true
            }
        }
        #expect(places(waiting: held.reduce(0, +)).refusal(holding: [(.network, 0)]) == nil)
        #expect((held.max() ?? 0) - (held.min() ?? 0) <= 1)
    }

    @Test func `an idle thread takes anybody`() {
        let slow = places(waiting: 0, running: 1, average: .seconds(60), wait: .zero, length: 0)
        #expect(slow.refusal(holding: [(.network, 9)]) == nil)
        #expect(
            places(waiting: 0, running: 2, average: .seconds(60), wait: .zero).refusal(holding: [])?.reason == .full)
    }

    @Test func `jobs that take no time are bounded by number alone`() {
        #expect(places(waiting: 3, average: .zero, length: 4).refusal(holding: []) == nil)
        #expect(places(waiting: 4, average: .zero, length: 4).refusal(holding: [])?.reason == .full)
        #expect(places(waiting: 4, average: .zero, wait: .zero, length: 4).refusal(holding: [])?.reason == .full)
    }

    @Test(arguments: [(20, 1050), (100, 5050), (1, 1000)])
    func `says when the queue will be gone`(waiting: Int, milliseconds: Int) {
        let refusal = places(waiting: waiting, length: 1).refusal(holding: [])
        #expect(refusal?.retryAfter == .milliseconds(milliseconds))
    }
}
