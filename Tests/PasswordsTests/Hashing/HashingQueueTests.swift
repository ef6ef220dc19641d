import Accounts
import Testing

@testable import Passwords

struct HashingQueueTests {
    /// Callers as `network/subject` or `block:network/subject` in the order of their arrival, and the order of their
    /// turns.
    @Test(arguments: [
        (["a/x", "a/x", "a/x"], [0, 1, 2]),
        // A flood from one network gets one turn for each turn of the others.
        (["a/x", "a/x", "a/x", "b/y", "c/z", "b/y"], [0, 3, 4, 1, 5, 2]),
        // Within a network, subjects take turns too: one person in an office attacks one account.
        (["a/x", "a/x", "a/x", "a/y", "a/z"], [0, 3, 4, 1, 2]),
        // A network with many subjects gets as many turns as one with a single subject.
        (["a/u", "a/v", "a/w", "a/x", "b/y", "b/y"], [0, 4, 1, 5, 2, 3]),
        // A block with many networks gets as many turns as a single network. Its networks take turns within it.
        (["p:a/u", "p:a/u", "p:b/v", "p:c/w", "q/y", "q/y"], [0, 4, 2, 5, 3, 1]),
        // All requests without a subject count as one subject.
        (["a", "a", "a/x", "b"], [0, 3, 2, 1]),
        // The server's own jobs take turns like those of a network.
        (["", "", "b/x"], [0, 2, 1]),
    ])
    func `networks take turns, and subjects within a network`(callers: [String], order: [Int]) {
        var queue = queue(of: callers)
        #expect(served(from: &queue) == order)
    }

    @Test func `a job that leaves does not change the turns`() {
        var queue = queue(of: ["a/x", "b/y", "a/x", "b/z", "c/w"])
        #expect(queue.remove(4)?.id == 4)
        #expect(queue.remove(1)?.id == 1)
        #expect(queue.remove(1) == nil)
        #expect(queue.count == 3)
        #expect(served(from: &queue) == [0, 3, 2])
    }

    @Test func `a network that leaves its block does not change its neighbours' turns`() {
        var queue = queue(of: ["p:a/x", "p:b/y", "q/z", "p:b/y"])
        #expect(queue.remove(0)?.id == 0)
        #expect(served(from: &queue) == [1, 2, 3])
        #expect(queue.count(.block("p")) == 0)
    }

    @Test func `a network that returns goes to the end`() {
        var queue = queue(of: ["a/x", "b/y", "c/z"])
        #expect(queue.removeFirst()?.id == 0)
        append("a/x", as: 7, to: &queue)
        #expect(served(from: &queue) == [1, 2, 7])
    }

    @Test func `counts waiting jobs and forgets groups without any`() {
        var queue = queue(of: ["a/x", "a/y", "b/x", "b/x", "c"])
        let subject = AttemptKey(bytes: Array("x".utf8))
        #expect((queue.count, queue.count(.network("a")), queue.count(.block("b"))) == (5, 2, 2))
        #expect((queue.count(.subject(subject)), queue.count(.subjectFromBlock(subject, "b"))) == (3, 2))
        _ = queue.remove(3)
        _ = queue.removeFirst()
        #expect((queue.count(.network("a")), queue.count(.block("b")), queue.count(.subject(subject))) == (1, 1, 1))
        _ = served(from: &queue)
        #expect((queue.count, queue.count(.network("b")), queue.count(.subject(subject))) == (0, 0, 0))
    }

    /// Compares the queue with a simple model over a long random series of arrivals, departures and turns.
    @Test(arguments: 0..<5) func `agrees with a list that is searched`(seed: UInt64) {
        var random = Lehmer(seed)
        var queue = HashingQueue()
        var model: [(id: UInt64, network: String, subject: String)] = []
        var turns: [String] = []
        var innerTurns: [String: [String]] = [:]
        for id in UInt64(0)..<2000 {
            switch random.next(5) {
            case 0, 1, 2:
                let (network, subject) = ("n\(random.next(4))", "s\(random.next(3))")
                append("\(network)/\(subject)", as: id, to: &queue)
                model.append((id, network, subject))
                if !turns.contains(network) { turns.append(network) }
                if innerTurns[network]?.contains(subject) != true { innerTurns[network, default: []].append(subject) }
                continue
            case 3:
                guard !model.isEmpty else { continue }
                let job = model.remove(at: random.next(model.count))
                #expect(queue.remove(job.id)?.id == job.id)
                leave(job.network, job.subject)
            default:
                let network = turns.first
                let subject = network.flatMap { innerTurns[$0]?.first }
                let index = model.firstIndex { $0.network == network && $0.subject == subject }
                #expect(queue.removeFirst()?.id == index.map { model[$0].id })
                guard let network, let subject, let index else { continue }
                model.remove(at: index)
                innerTurns[network]?.removeFirst()
                innerTurns[network]?.append(subject)
                turns.removeFirst()
                turns.append(network)
                leave(network, subject)
            }
            #expect(queue.count == model.count)
        }

        func leave(_ network: String, _ subject: String) {
            if !model.contains(where: { $0.network == network && $0.subject == subject }) {
                innerTurns[network]?.removeAll { $0 == subject }
            }
            if !model.contains(where: { $0.network == network }) { turns.removeAll { $0 == network } }
        }
    }

    private func queue(of callers: [String]) -> HashingQueue {
        var queue = HashingQueue()
        for (number, caller) in callers.enumerated() { append(caller, as: UInt64(number), to: &queue) }
        return queue
    }

    private func append(_ caller: String, as id: UInt64, to queue: inout HashingQueue) {
        let parts = caller.split(separator: "/").map(String.init)
        let requester = parts.first.map { network in
            let block = network.split(separator: ":").first.map(String.init)
            return HashingRequester.at(network, in: block, about: parts.count > 1 ? parts[1] : nil)
        }
        queue.append(.init(id: id, requester: requester, since: .now, run: { {} }, giveUp: { _ in }))
    }

    private func served(from queue: inout HashingQueue) -> [Int] {
        var order: [Int] = []
        while let job = queue.removeFirst() { order.append(Int(job.id)) }
        return order
    }
}

/// A generator of pseudorandom numbers that are the same in every run.
private struct Lehmer {
    private var state: UInt64

    init(_ seed: UInt64) { state = 2 * seed + 1 }

    mutating func next(_ bound: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int((state >> 33) % UInt64(bound))
    }
}
