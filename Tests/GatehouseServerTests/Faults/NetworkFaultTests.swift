import GatehouseTesting
import Glibc
import Migrations
import Synchronization
import Testing

@testable import GatehouseServer

/// Networks between servers, database and mail relay that lose or delay data.
@Suite(.serialized, .longMode) struct NetworkFaultTests {
    enum Side: CaseIterable {
        case first, second, both
    }

    @Test(arguments: Side.allCases, [DatabaseProxy.Behaviour.stalling, .delaying, .refusing])
    func `a broken network to the database loses nothing, and the server resumes`(
        side: Side, fault: DatabaseProxy.Behaviour
    ) async throws {
        let url = try await TemporaryPostgres.database(migrations: Migrations.all)
        let (first, second) = (try DatabaseProxy(before: url), try DatabaseProxy(before: url))
        defer { [first, second].forEach { $0.stop() } }
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
        }
    }

    enum RelayFault: CaseIterable {
        case silent, slow, refusing

        /// Returns the relay's reaction to a command while its network is broken.
        func reaction() -> MailSink.Reaction? {
            switch self {
            case .silent: return .hang
            case .refusing: return .reply("421 try later")
            case .slow:
                usleep(300_000)
                return nil
            }
        }
    }

    @Test(arguments: RelayFault.allCases)
    func `mails arrive after the network to the relay was broken`(fault: RelayFault) async throws {
        let isBroken = Mutex(false)
        let sink = try MailSink { _, _ in isBroken.withLock { $0 } ? fault.reaction() : nil }
        try await FaultServers.with(mail: sink) { servers in
            let load = servers.load()
            try await load.run {
                isBroken.withLock { $0 = true }
                try await Task.sleep(for: .seconds(5))
                isBroken.withLock { $0 = false }
            }
            try await servers.verify(load.journal.entries)
        }
    }
}
