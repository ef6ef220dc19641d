import Foundation
import GatehouseTesting
import Migrations
import NIOHTTP1
import Synchronization
import Testing

@testable import GatehouseServer

/// Two replicas in processes of their own, with a mail relay and a ledger.
struct FaultServers: Sendable {
    let first: Replica
    let second: Replica
    let mail: SMTPSink
    let relayNetwork: RelayNetwork
    let partner: Partner
    let directory: ProcessDirectory

    /// Starts both servers on a database, runs the body, and ends them.
    ///
    /// The second server connects without notifications, like one behind a pooler in transaction mode; the first one hears
    /// them. Without a URL the database is a new one. `program` is the path of another version of `gatehouse`.
    static func with(
        database url: String? = nil, mail: SMTPSink? = nil, program: String = GatehouseProcess.executable,
        _ body: @Sendable (FaultServers) async throws -> Void
    ) async throws {
        let url = if let url { url } else { try await TemporaryPostgres.database(migrations: Migrations.all) }
        let pooler = try DatabaseProxy(before: url, .droppingNotifications)
        defer { pooler.stop() }
        let urls = (url, DatabaseProxy.url(url, by: [pooler]))
        try await with(databases: urls, mail: mail, program: program, body)
    }

    /// Starts both servers, runs the body, and ends them; `databases` are the servers' URLs of the same database.
    static func with(
        databases: (first: String, second: String), mail: SMTPSink? = nil,
        program: String = GatehouseProcess.executable, _ body: @Sendable (FaultServers) async throws -> Void
    ) async throws {
        let sink = try mail ?? SMTPSink()
        defer { sink.close() }
        let network = try RelayNetwork(before: sink.port)
        defer { network.close() }
        let partner = try Partner()
        try await ProcessDirectory.with { directory in
            let replicas = try [("first", databases.first), ("second", databases.second)].map { name, url in
                var file = ServerFile(database: url)
                file.providers = partner.entry
                file.delivery = """
                    delivery: { email: { from: 'no-reply@demo.example', smtp: 'smtp://127.0.0.1:\(network.port)' } }
                    deletion: { gracePeriod: 0s, ledger: '\(directory.path("ledger"))' }
                    """
                return try Replica(named: name, file: file, in: directory)
            }
            let servers = FaultServers(
                first: replicas[0], second: replicas[1], mail: sink, relayNetwork: network, partner: partner,
                directory: directory)
            do {
                async let first: Void = servers.first.start(program)
                try await servers.second.start(program)
                try await first
                try await body(servers)
            } catch {
                for replica in replicas { try? await replica.end(by: SIGKILL) }
                throw error
            }
            for replica in replicas { try await replica.end(by: SIGTERM) }
        }
    }

    func load(excusing excuses: FaultLoad.Excuses = []) -> FaultLoad {
        FaultLoad(first: first.client, second: second.client, partner: partner, excusing: excuses)
    }

    /// Verifies what `entries` acknowledge at these replicas, by default at both.
    func verify(_ entries: FaultJournal.Entries, at replicas: [Replica]? = nil) async throws {
        let (sink, replicas) = (mail, replicas ?? [first, second])
        try await FaultVerifier(entries: entries, partner: partner, clients: replicas.map(\.client)) { address in
            let mails = sink.taken.filter { $0.recipient == address }
            return mails.lazy.compactMap { $0.content.firstMatch(of: /token=([A-Za-z0-9_-]+)/) }.first
                .map { String($0.output.1) }
        }.verify()
        for replica in replicas {
            let ready = try await replica.client.send(.GET, "/health/ready")
            #expect(ready.status == 200, "\(ready.text)")
        }
    }
}

/// A `gatehouse serve` on a port of its own, which the test can end and start again.
final class Replica: Sendable {
    let client: APIClient
    private let name: String
    private let directory: ProcessDirectory
    private let running = Mutex<GatehouseProcess?>(nil)

    init(named name: String, file: ServerFile, in directory: ProcessDirectory) throws {
        var file = file
        file.port = try Port.free()
        client = APIClient(url: "http://127.0.0.1:\(file.port)")
        self.name = name
        self.directory = directory
        try directory.write(file.text, to: "\(name).yaml")
    }

    var process: GatehouseProcess? { running.withLock { $0 } }

    /// Starts the server, with the words of `prefix` before its command, and waits until it serves.
    func start(
        _ program: String = GatehouseProcess.executable, prefix: [String] = [], environment: [String: String] = [:]
    ) async throws {
        let process = try launch(program, prefix: prefix, environment: environment)
        try await eventually("the server serves", within: .seconds(60)) {
            try #require(process.isRunning, "\(process.errors)")
            return process.errorLines.contains { (try? LogLine($0))?.message == "serving" }
        }
    }

    /// Starts the server and returns its exit status, for a server that cannot start.
    func exitStatus() async throws -> Int32 {
        let process = try launch()
        _ = running.withLock { $0.take() }
        return try await process.end()
    }

    private func launch(
        _ program: String = GatehouseProcess.executable, prefix: [String] = [], environment: [String: String] = [:]
    ) throws -> GatehouseProcess {
        let command = prefix + [program, "serve", "--config", "\(name).yaml"]
        let process = try GatehouseProcess(
            Array(command.dropFirst()), program: command[0], in: directory, environment: environment)
        running.withLock { $0 = process }
        return process
    }

    /// Ends the server, which must still be running.
    func end(by signal: Int32) async throws {
        guard let process = running.withLock({ $0.take() }) else { return }
        let status = try await process.end(by: signal)
        #expect(status == (signal == SIGTERM ? 0 : -signal), "\(process.errors.suffix(2000))")
    }
}
