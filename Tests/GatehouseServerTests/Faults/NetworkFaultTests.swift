import GatehouseTesting
import Migrations
import Postgres
import Synchronization
import Testing

@testable import GatehouseServer

/// Networks between servers, database and mail relay that lose or delay data.
@Suite(.serialized, .longMode) struct NetworkFaultTests {
    enum Side: CaseIterable {
        case first, second, both
    }

    /// The limit of the slowest call: the server gives up after 7 seconds at most, and a busy machine is slower.
    private static let answerLimit = Duration.seconds(20)

    @Test(arguments: Side.allCases, [DatabaseProxy.Behaviour.stalling, .delaying, .refusing])
    func `a broken network to the database loses nothing, and the server resumes`(
        side: Side, fault: DatabaseProxy.Behaviour
    ) async throws {
        let url = try await TemporaryPostgres.database(migrations: Migrations.all)
        // Notifications do not reach the second server.
        let pooler = try DatabaseProxy(before: url, .droppingNotifications)
        let first = try DatabaseProxy(before: url)
        let second = try DatabaseProxy(before: DatabaseProxy.url(url, by: [pooler]))
        defer { [first, second, pooler].forEach { $0.stop() } }
        let urls = (DatabaseProxy.url(url, by: [first]), DatabaseProxy.url(url, by: [second]))
        let broken =
            switch side {
            case .first: [first]
            case .second: [second]
            case .both: [first, second]
            }
        try await FaultServers.with(databases: urls) { servers in
            let load = servers.load()
            try await load.run {
                broken.forEach { $0.turn(fault) }
                try await Task.sleep(for: .seconds(8))
                broken.forEach { $0.turn(.forwarding) }
            }
            try await servers.verify(load.journal.entries)
            #expect(load.journal.entries.slowest < Self.answerLimit)
        }
    }

    @Test(
        .enabled("nft, ip, socat and the right to create a network namespace are needed") {
            try await LossyNetwork.isPermitted() || NeededProgram.isStrict
        }, arguments: [Side.first, .both], LossyNetwork.Loss.allCases)
    func `packets that are dropped before the database lose nothing, and the server resumes`(
        side: Side, loss: LossyNetwork.Loss
    ) async throws {
        let cluster = TemporaryPostgres.cluster()
        try await cluster.start()
        try await attempt {
            try Database.runAlone("CREATE DATABASE faults", url: cluster.url)
            try await LossyNetwork.with(before: cluster.url(database: "faults")) { network in
                let pooler = try DatabaseProxy(before: network.urls.second, .droppingNotifications)
                defer { pooler.stop() }
                let urls = (network.urls.first, DatabaseProxy.url(network.urls.second, by: [pooler]))
                try await FaultServers.with(databases: urls) { servers in
                    let load = servers.load()
                    try await load.run {
                        try await network.drop(loss, both: side == .both)
                        try await Task.sleep(for: .seconds(8))
                        try await network.restore()
                    }
                    try await servers.verify(load.journal.entries)
                    #expect(load.journal.entries.slowest < Self.answerLimit)
                }
            }
        } finally: {
            await cluster.stop()
        }
    }

    @Test(arguments: [RelayNetwork.Fault.stalling, .delaying, .refusing])
    func `mails arrive after the network to the relay was broken`(fault: RelayNetwork.Fault) async throws {
        try await FaultServers.with { servers in
            let load = servers.load()
            try await load.run {
                servers.relayNetwork.turn(fault)
                try await Task.sleep(for: .seconds(5))
                servers.relayNetwork.turn(nil)
            }
            try await servers.verify(load.journal.entries)
        }
    }

    @Test func `mails arrive after the relay was silent or refused them`() async throws {
        let reaction = Mutex<SMTPSink.Reaction?>(nil)
        let sink = try SMTPSink { _ in reaction.withLock { $0 } }
        try await FaultServers.with(mail: sink) { servers in
            let load = servers.load()
            try await load.run {
                for fault in [SMTPSink.Reaction.hang, .reply("421 try later")] {
                    reaction.withLock { $0 = fault }
                    try await Task.sleep(for: .seconds(5))
                }
                reaction.withLock { $0 = nil }
            }
            try await servers.verify(load.journal.entries)
        }
    }
}
