import GatehouseTesting
import Migrations
import NIOHTTP1
import Postgres
import ProviderKit
import Synchronization
import Testing

@testable import GatehouseServer

/// PostgreSQL is killed under load: each request is answered, no acknowledged write is lost, and service resumes.
@Suite(.serialized) struct OutageTests {
    private static let clients = 16
    /// Enough calls for the outage to hit some of them, and few enough for a short test.
    private static let callsOfEach = 15

    @Test func killedUnderLoadItLosesNothing() async throws {
        let cluster = TemporaryPostgres.cluster(durable: true)
        try await cluster.start()
        try await attempt {
            try await TestServer.with(database: cluster.url, patience: .limited) { server in
                try await crashUnderLoad(cluster, server)
            }
        } finally: {
            await cluster.stop()
        }
    }

    @Test func `reads wait while a migration locks their tables`() async throws {
        let url = try await TemporaryPostgres.database(migrations: Migrations.all)
        try await FaultServers.with(database: url) { servers in
            let clients = [servers.first.client, servers.second.client]
            let bearer = try #require(try await clients[0].post("/auth/anonymous")["accessToken"].string)
            let database = Database(.init(url: url), logger: TestServer.silence)
            database.start()
            let calls = try await database.transaction { transaction in
                try await transaction.script("LOCK TABLE accounts, sessions IN ACCESS EXCLUSIVE MODE")
                let calls = clients.map { client in
                    Task { try await client.get("/auth/me", bearer: bearer).status }
                }
                // Longer than a statement waits for a lock.
                try await Task.sleep(for: .milliseconds(2500))
                return calls
            }
            for call in calls { #expect(try await call.value == 200) }
            await database.stop()
        }
    }

    private func crashUnderLoad(_ cluster: PrivateCluster, _ server: TestServer) async throws {
        let client = APIClient(server)
        let person = try await client.register(at: server)
        let load = SignInLoad(client: client, person: person)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<Self.clients { group.addTask { try await load.run() } }
            defer { load.stop() }

            try await load.awaitServed(Self.clients * Self.callsOfEach)
            await cluster.crash()
            let unready = try await eventually("readiness is denied") {
                try await client.send(.GET, "/health/ready").status == 503
            }
            #expect(try await client.send(.GET, "/health/live").status == 200)
            try await load.awaitRefused(Self.clients * 2)

            try await cluster.start()
            let servedBefore = load.tally.served
            let resumed = try await eventually("service resumes") { load.tally.served > servedBefore }
            let ready = try await eventually("readiness is told") {
                try await client.send(.GET, "/health/ready").status == 200
            }
            try await load.awaitServed(load.tally.served + Self.clients * Self.callsOfEach)
            load.stop()
            try await group.waitForAll()
            // It takes a few tens of milliseconds, unless other work slows the machine down.
            #expect(resumed + ready < .seconds(20))
            print(
                "killed under \(Self.clients) clients: \(load.tally.served) calls served, \(load.tally.refused) refused,",
                "slowest \(load.tally.slowest.milliseconds) ms; unready after \(unready.milliseconds) ms,",
                "served again \(resumed.milliseconds) ms after PostgreSQL's return, ready after",
                "\((resumed + ready).milliseconds) ms")
        }
        #expect(load.tally.oddities == [])
        // Each call waits no longer than the database's deadline and then returns an error.
        #expect(load.tally.slowest < .seconds(20))
        try await checkNothingIsLost(load.tally, client)
    }

    private func checkNothingIsLost(_ tally: SignInLoad.Tally, _ client: APIClient) async throws {
        print("\(tally.live.count) sessions acknowledged and live, \(tally.ended.count) acknowledged logouts")
        #expect(tally.live.count >= Self.clients)
        #expect(tally.ended.count >= Self.clients)
        for session in tally.live {
            let answer = try await client.refresh(session.refreshToken)
            #expect(answer.status == 200, "\(answer.text)")
        }
        for session in tally.ended {
            #expect(try await client.refresh(session.refreshToken).code == "INVALID_REFRESH_TOKEN")
            #expect(try await client.status(of: session.accessToken) == 401)
        }
    }
}
