import Synchronization

extension Trial {
    /// How long sign-ins are measured before the erasure, and again after it.
    private static let usualSeconds = 30.0
    /// Longer than the longest rests between erasures take.
    private static let patience = Duration.seconds(12_000)

    /// Measures the erasure of many accounts that are due at once, with sign-ins at the same time.
    static func erasure(on stage: Stage, people: Int) -> Trial {
        Trial(
            name: "sign-ins while \(people) accounts are erased",
            explanation: [
                "usual: before and after; counted meanwhile: who began between the first erasure and the last"
            ]
        ) { findings in
            _ = try await stage.seed(people, printing: 0)
            var usual = try await SignIns.measured(on: stage, seconds: usualSeconds)
            let erasing = Erasing()
            async let signIns = SignIns.measured(on: stage) { _ in !erasing.isOver }
            let rate = try await erasing.watch(stage, expecting: people)
            let meanwhile = try await signIns.filtered { erasing.lasted(at: $0.due) }
            findings.append(try Finding("erased", [rate], unit: "per second"))
            usual.append(try await SignIns.measured(on: stage, seconds: usualSeconds))
            for (name, answers, most) in [
                ("password", \SignIns.byPassword, 1.5), ("anonymous", \SignIns.ofGuests, 2.0),
            ] {
                let p99 = usual[keyPath: answers].p99
                let during = meanwhile[keyPath: answers]
                findings.append(try Finding("\(name) sign-in, usual p99", [p99], unit: "ms"))
                findings.append(
                    try Finding(
                        "\(name) sign-in, p99 of \(during.count) meanwhile", during.isEmpty ? [] : [during.p99 / p99],
                        unit: "×", .median(atMost: most)))
            }
        }
    }

    /// The time from the first to the last observed erasure.
    private final class Erasing: Sendable {
        private let state = Mutex<(first: ContinuousClock.Instant?, last: ContinuousClock.Instant?, isOver: Bool)>(
            (nil, nil, false))

        var isOver: Bool { state.withLock(\.isOver) }

        func lasted(at moment: ContinuousClock.Instant) -> Bool {
            state.withLock { state in
                guard let first = state.first, let last = state.last else { return false }
                return (first...max(first, last)).contains(moment)
            }
        }

        /// Makes all seeded accounts due, and waits until all are erased.
        ///
        /// - Returns: the number of accounts erased per second.
        func watch(_ stage: Stage, expecting people: Int) async throws -> Double {
            // The sign-ins must also end after an error.
            defer { state.withLock { $0.isOver = true } }
            let due = try await stage.seeder.makeSeededPeopleDue(in: stage.es256)
            guard due == people else { throw BenchError("\(due) accounts were seeded") }
            let deadline = ContinuousClock.now + patience
            while true {
                let asked = ContinuousClock.now
                let left = try await stage.seeder.dueCount()
                guard left > 0 else { break }
                guard asked < deadline else { throw BenchError("\(left) accounts are still not erased") }
                state.withLock { state in
                    if left < due, state.first == nil { state.first = .now }
                    state.last = asked
                }
                try await Task.sleep(for: .milliseconds(200))
            }
            let first = state.withLock(\.first)
            return first.map { Double(due) / ((ContinuousClock.now - $0) / .seconds(1)) } ?? 0
        }
    }
}

/// Sign-ins at a rate far below the capacity of the machine.
private struct SignIns {
    var byPassword: [PacedLoad.Answer] = []
    var ofGuests: [PacedLoad.Answer] = []

    static func measured(on stage: Stage, seconds: Double) async throws -> SignIns {
        let end = ContinuousClock.now + .seconds(seconds)
        return try await measured(on: stage) { _ in .now < end }
    }

    static func measured(on stage: Stage, while isWanted: @Sendable (Int) -> Bool) async throws -> SignIns {
        let api = stage.gatehouse.url(stage.path(of: stage.es256)) + "/api/v1/auth"
        let bodies = stage.people(of: stage.es256).map(\.signInBody)
        let byPassword = PacedLoad(url: api + "/login", bodies: bodies, perSecond: 5)
        let ofGuests = PacedLoad(url: api + "/anonymous", bodies: [RequestBody.empty], perSecond: 20)
        return try await withClient { client in
            async let guests = ofGuests.run(client: client, while: isWanted)
            let signIns = SignIns(
                byPassword: await byPassword.run(client: client, while: isWanted), ofGuests: await guests)
            let failed = (signIns.byPassword + signIns.ofGuests).count { $0.status != 200 }
            guard failed == 0 else { throw BenchError("\(failed) sign-ins failed") }
            return signIns
        }
    }

    mutating func append(_ others: SignIns) {
        byPassword += others.byPassword
        ofGuests += others.ofGuests
    }

    func filtered(_ isCounted: (PacedLoad.Answer) -> Bool) -> SignIns {
        SignIns(byPassword: byPassword.filter(isCounted), ofGuests: ofGuests.filter(isCounted))
    }
}
