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

    /// There are twenty places: each of two threads does ten jobs within the longest accepted wait of a second.
    @Test(
        arguments: [
            (0, 0, nil), (19, 0, nil), (20, 0, .full), (500, 0, .full),
            // A network on its own may hold half of the places.
            (9, 9, nil), (10, 10, .network),
            // Beside others, a network may hold as many places as are then free.
            (13, 6, nil), (13, 7, .network), (18, 1, nil), (18, 2, .network),
        ] as [(Int, Int, HashingRefusal?)])
    func `no group holds more places than are free`(waiting: Int, held: Int, reason: HashingRefusal?) {
        let network = HashingPlaces.Share(reason: .network, count: held)
        #expect(places(waiting: waiting).refusal(holding: [network])?.reason == reason)
        let others = HashingPlaces.Share(reason: .network, count: 0)
        let subject = HashingPlaces.Share(reason: .subject, count: held)
        let bySubject = places(waiting: waiting).refusal(holding: [others, subject])?.reason
        #expect(bySubject == (reason == .network ? .subject : reason))
    }

    /// A block holds at most two thirds of the places, however many networks it contains.
    @Test(arguments: [(13, 13, nil), (14, 14, .block), (17, 6, .block), (17, 5, nil)] as [(Int, Int, HashingRefusal?)])
    func `a block holds no more than twice what is left`(waiting: Int, held: Int, reason: HashingRefusal?) {
        let block = HashingPlaces.Share(reason: .block, count: held, factor: 2)
        #expect(places(waiting: waiting).refusal(holding: [block])?.reason == reason)
    }

    @Test(arguments: [1, 2, 3, 5, 9], [1, 2])
    func `a newcomer finds a place beside any number of floods`(floods: Int, factor: Int) {
        var held = [Int](repeating: 0, count: floods)
        // Each flood in turn takes a place, until all of them are refused.
        var isGrowing = true
        while isGrowing {
            isGrowing = false
            for index in held.indices {
                let state = places(waiting: held.reduce(0, +))
                guard state.refusal(holding: [share(held[index])]) == nil else { continue }
                held[index] += 1
                isGrowing = true
            }
        }
        #expect(places(waiting: held.reduce(0, +)).refusal(holding: [share(0)]) == nil)
        #expect((held.max() ?? 0) - (held.min() ?? 0) <= 1)

        func share(_ count: Int) -> HashingPlaces.Share {
            .init(reason: .network, count: count, factor: factor)
        }
    }

    @Test func `an idle thread accepts any job`() {
        let slow = places(waiting: 0, running: 1, average: .seconds(60), wait: .zero, length: 0)
        #expect(slow.refusal(holding: [.init(reason: .network, count: 9)]) == nil)
        #expect(
            places(waiting: 0, running: 2, average: .seconds(60), wait: .zero).refusal(holding: [])?.reason == .full)
    }

    @Test func `jobs of no duration are limited only by number`() {
        #expect(places(waiting: 3, average: .zero, length: 4).refusal(holding: []) == nil)
        #expect(places(waiting: 4, average: .zero, length: 4).refusal(holding: [])?.reason == .full)
        #expect(places(waiting: 4, average: .zero, wait: .zero, length: 4).refusal(holding: [])?.reason == .full)
    }

    @Test(arguments: [(20, 1050), (100, 5050), (1, 1000)])
    func `states when the queue will be empty`(waiting: Int, milliseconds: Int) {
        let refusal = places(waiting: waiting, length: 1).refusal(holding: [])
        #expect(refusal?.retryAfter == .milliseconds(milliseconds))
    }
}
