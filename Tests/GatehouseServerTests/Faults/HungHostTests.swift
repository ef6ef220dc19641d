import GatehouseTesting
import Migrations
import ProviderKit
import Synchronization
import Testing

@testable import GatehouseServer

/// A list of hosts whose first, the primary, hangs.
@Suite(.serialized) struct HungHostTests {
    /// The documented limit is three seconds; the test allows more on a busy machine.
    private static let limit: Duration = .seconds(10)

    @Test func `if the primary hangs, the promoted host is used`() async throws {
        let url = try await TemporaryPostgres.database(migrations: Migrations.all)
        let (primary, standby) = (try DatabaseProxy(before: url), try DatabaseProxy(before: url, .refusing))
        defer { [primary, standby].forEach { $0.stop() } }
        try await TestServer.with(
            database: DatabaseProxy.url(url, by: [primary, standby]), patience: .limited
        ) { server in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            let load = SignInLoad(client: client, person: person)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<8 { group.addTask { try await load.run() } }
                defer { load.stop() }
                try await load.awaitServed(50)
                primary.turn(.hanging)
                try await load.awaitRefused(8)
                standby.turn(.forwarding)
                let registered = try await eventually("a registration is served") {
                    let email: JSONValue = .string(APIClient.newAddress())
                    let body: JSONValue = ["email": email, "password": .string(APIClient.password)]
                    return try await client.post("/auth/register", body).status == 201
                }
                let read = try await eventually("a session is served") {
                    try await client.get("/auth/me", bearer: person.accessToken).status == 200
                }
                print(
                    "served after the promotion: a registration in \(registered.milliseconds) ms, `me`",
                    "\(read.milliseconds) ms later")
                #expect(registered + read < Self.limit)
                try await load.awaitServed(load.tally.served + 50)
                load.stop()
                try await group.waitForAll()
            }
            #expect(load.tally.oddities == [])
            #expect(load.tally.slowest < .seconds(15))
        }
    }
}
