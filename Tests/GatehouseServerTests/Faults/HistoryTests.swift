import Foundation
import Testing

@testable import GatehouseServer

/// Runs sign-ins, links, merges, deletions and their reversals in random order by several clients at once.
struct HistoryTests {
    /// The long mode runs longer histories.
    private static let clients = 8
    private static let (rounds, steps) = isLongMode ? (40, 64) : (5, 26)

    @Test func `after any history, each person has one account and a way to sign in`() async throws {
        let environment = ProcessInfo.processInfo.environment["GATEHOUSE_HISTORY_SEED"]
        let seed = environment.flatMap { UInt64($0) } ?? UInt64.random(in: 0..<1_000_000)
        print("history of seed \(seed): \(Self.rounds * Self.steps * Self.clients) steps")
        try await TestServer.linking(application: "recentAuthentication: 1d") { server, client in
            let ledger = HistoryLedger()
            let invariants = HistoryInvariants(server: server, ledger: ledger)
            var people = (0..<UInt64(Self.clients)).map {
                HistoryClient(client, seed: seed &* 1000 &+ $0, ledger: ledger)
            }
            var tried = 0
            // An action that succeeds rarely may need further rounds.
            for round in 1...Self.rounds + 20 where round <= Self.rounds || !Self.neverSeen(ledger).isEmpty {
                people = try await Self.play(people)
                let violations = try await invariants.violations()
                try #require(violations.isEmpty, "seed \(seed), round \(round): \(violations.prefix(8))")
                let issued = ledger.entries.issued
                let broken = try await invariants.brokenTokens(in: issued[tried...])
                try #require(broken.isEmpty, "seed \(seed), round \(round): \(broken.prefix(8))")
                tried = issued.count
            }
            let broken = try await invariants.brokenTokens(in: ledger.entries.issued[...])
            #expect(broken.isEmpty, "seed \(seed), at the end: \(broken.prefix(8))")
            for line in ledger.entries.answers.sorted(by: { $0.key < $1.key }) { print("  \(line.key): \(line.value)") }
            #expect(Self.neverSeen(ledger) == [])
        }
    }

    private static func play(_ people: [HistoryClient]) async throws -> [HistoryClient] {
        try await withThrowingTaskGroup(of: (Int, HistoryClient).self) { group in
            for (index, person) in people.enumerated() {
                group.addTask {
                    var person = person
                    for _ in 0..<steps { try await person.step() }
                    return (index, person)
                }
            }
            return try await group.reduce(into: people) { $0[$1.0] = $1.1 }
        }
    }

    /// The needed answers that never came: unless each action succeeds at least once, the history proves nothing.
    private static func neverSeen(_ ledger: HistoryLedger) -> [String] {
        [
            "sign-in 200", "sign-in 403", "guest 200", "link 200", "link 409", "merge 200", "undo 204", "unlink 200",
            "delete 204", "restore 200", "refresh 200",
        ].filter { ledger.count($0) == 0 }
    }
}
