import Accounts
import Dispatch
import Foundation
import GatehouseTesting
import NIOHTTP1
import Passwords
import ProviderKit
import Synchronization
import Testing

@testable import GatehouseServer

/// If more sign-ins arrive than the machine can hash, the queue decides which requests wait and which are refused.
@Suite(.timeLimit(.minutes(2))) struct HashingFloodTests {
    private static let proxied = "development: true, trustedProxies: [127.0.0.1]"

    @Test func `a flood from one address does not block another address`() async throws {
        try await TestServer.with(server: Self.proxied, patience: .limited) { server in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            let pool = server.server.hashing
            let hold = try await Hold(pool)
            // The flood comes from one network and gets only that network's share of the queue.
            let flood = HashingRequester(network: "203.0.113.1", subject: nil)
            let waiting = try await fill(pool) { _ in flood }
            #expect(pool.statistics.refusals[.network] == 1)
            let refused = try await login(client, AddressOf.nobody, from: "203.0.113.1")
            expectError(refused, 503, "OVERLOADED")
            #expect((refused.retryAfter ?? 0) >= 1)

            async let honest = login(client, person.email, from: "198.51.100.7")
            try await eventually("the other one waits") { pool.statistics.queued == waiting.count + 1 }
            hold.lift()
            #expect(try await honest.status == 200)
            for task in waiting { task.cancel() }
            try await hold.end()
            #expect(try await login(client, person.email, from: "203.0.113.1").status == 200)
        }
    }

    @Test func `a flood from a whole network allocation does not block other networks`() async throws {
        try await TestServer.with(server: Self.proxied, patience: .limited) { server in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            let pool = server.server.hashing
            let hold = try await Hold(pool)
            // Each subscriber has a network of its own and sends one request.
            let waiting = try await fill(pool) { number in
                let address = "2001:db8:1:\(String(number, radix: 16))::1"
                return HashingRequester(Client(device: nil, address: address), subject: nil)
            }
            #expect(pool.statistics.refusals == [.block: 1])
            expectError(try await login(client, AddressOf.nobody, from: "2001:db8:1:ffff::1"), 503, "OVERLOADED")
            async let honest = login(client, person.email, from: "2001:db8:2:1::1")
            try await eventually("the other one waits") { pool.statistics.queued == waiting.count + 1 }
            for task in waiting { task.cancel() }
            hold.lift()
            #expect(try await honest.status == 200)
            try await hold.end()
        }
    }

    @Test func `a full queue refuses the apps of a dialect in their own words`() async throws {
        try await TestServer.with(
            application: ImmichApp.application, providers: ImmichApp.providers, patience: .limited
        ) { server in
            let app = ImmichApp(api: APIClient(server))
            let person = try await app.api.register(at: server)
            let pool = server.server.hashing
            let hold = try await Hold(pool)
            let waiting = try await fill(pool) { _ in nil }
            let refused = try await app.login(person.email)
            expectImmich(refused, 503, "OVERLOADED", "The server is busy. Please try again.")
            for task in waiting { task.cancel() }
            hold.lift()
            try await hold.end()
            #expect(try await app.login(person.email).status == 201)
        }
    }

    @Test func `clients that hang up leave the queue, and nothing is hashed for them`() async throws {
        try await TestServer.with(server: Self.proxied, patience: .limited) { server in
            let client = APIClient(server)
            let pool = server.server.hashing
            let hold = try await Hold(pool)
            let done = pool.statistics.done
            let callers = (1...6).map { number in
                Task { try await login(client, AddressOf.nobody, from: "203.0.113.\(number)") }
            }
            try await eventually("all wait") { pool.statistics.queued == callers.count }
            for principal in callers { principal.cancel() }
            try await eventually("no request waits") { pool.statistics.queued == 0 }
            #expect(pool.statistics.abandoned == callers.count)
            hold.lift()
            try await hold.end()
            #expect(pool.statistics.done == done + pool.statistics.workers)
            #expect(try await login(client, AddressOf.nobody, from: "203.0.113.1").status == 401)
        }
    }

    @Test func `a request that the full queue refuses sends no statement`() async throws {
        try await TestServer.with(
            server: Self.proxied, rateLimits: "{ login: 1/h, register: 1/h }", patience: .limited
        ) { server in
            let client = APIClient(server)
            let pool = server.server.hashing
            let hold = try await Hold(pool)
            let waiting = try await fill(pool) { _ in nil }
            for _ in 1...3 {
                expectError(try await login(client, AddressOf.nobody, from: "203.0.113.1"), 503, "OVERLOADED")
                let registered = try await client.post(
                    "/auth/register",
                    ["email": .string(APIClient.newAddress()), "password": .string(APIClient.password)])
                expectError(registered, 503, "OVERLOADED")
            }
            for task in waiting { task.cancel() }
            hold.lift()
            try await hold.end()
            // The refused requests were not counted: the rate limit still allows its one call.
            #expect(try await login(client, AddressOf.nobody, from: "203.0.113.1").status == 401)
            #expect(try await login(client, AddressOf.nobody, from: "203.0.113.1").status == 429)
        }
    }

    @Test func `refusals do not wait for the database`() async throws {
        try await TestServer.with { first in
            let proxy = try DatabaseProxy(before: first.databaseURL)
            defer { proxy.stop() }
            let url = DatabaseProxy.url(first.databaseURL, by: [proxy])
            try await TestServer.with(database: url, server: Self.proxied) { server in
                let client = APIClient(server)
                let pool = server.server.hashing
                let hold = try await Hold(pool)
                let waiting = try await fill(pool) { _ in nil }
                for task in waiting.suffix(3) { task.cancel() }
                try await eventually("three places are free") { pool.statistics.queued == waiting.count - 3 }
                let rejected = pool.statistics.rejected
                proxy.turn(.stalling)
                let callers = (1...8).map { number in
                    Task { try await login(client, AddressOf.nobody, from: "198.18.\(number).1") }
                }
                // The database answers none of the calls. Three hold the free places, and the others are refused.
                try await eventually("all others are refused") { pool.statistics.rejected == rejected + 5 }
                #expect((pool.statistics.queued, pool.statistics.reserved) == (waiting.count - 3, 3))
                proxy.turn(.forwarding)
                for task in waiting { task.cancel() }
                hold.lift()
                for caller in callers { _ = try await caller.value }
                try await hold.end()
                #expect((pool.statistics.queued, pool.statistics.reserved) == (0, 0))
                #expect(pool.statistics.rejected == rejected + 5)
            }
        }
    }

    @Test func `a call gives its place back however it ends`() async throws {
        try await TestServer.with(rateLimits: "{ login: 4/h }") { server in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            let pool = server.server.hashing
            let (email, password) = (JSONValue.string(person.email), JSONValue.string(person.password))
            let address = JSONValue.string(APIClient.newAddress())
            let bearer = person.accessToken
            let calls: [(method: HTTPMethod, path: String, body: JSONValue, bearer: String?, status: Int)] = [
                (.POST, "/auth/login", ["email": email, "password": password], nil, 200),
                (.POST, "/auth/login", ["email": email, "password": "wrong horse"], nil, 401),
                (.POST, "/auth/login", ["email": address, "password": password], nil, 401),
                (.POST, "/auth/login", [:], nil, 400),
                (.POST, "/auth/login", ["email": email, "password": password], nil, 429),
                (.POST, "/auth/register", ["email": address, "password": "weak"], nil, 400),
                (.POST, "/auth/register", ["email": address, "password": password], nil, 201),
                (.POST, "/auth/reset-password", ["token": "x", "newPassword": password], nil, 401),
                (.PUT, "/auth/change-password", ["password": password], nil, 401),
                (.PUT, "/auth/change-password", ["password": "weak"], bearer, 400),
                (.PUT, "/auth/change-password", ["password": "another horse"], bearer, 204),
                (.POST, "/auth/identities/email", ["email": address, "password": password], bearer, 202),
            ]
            for call in calls {
                let json = Array(try JSONEncoder().encode(call.body))
                let answer = try await client.send(
                    call.method, "/api/v1" + call.path, raw: json, bearer: call.bearer)
                #expect(answer.status == call.status, "\(call.path) \(call.body): \(answer.text)")
                #expect((pool.statistics.queued, pool.statistics.reserved) == (0, 0), "\(call.path) \(call.body)")
            }
        }
    }

    @Test func `proofs that need no hash are served while the queue is full`() async throws {
        try await TestServer.with(patience: .limited) { server in
            let client = APIClient(server)
            let guest = try await client.guest()
            let pool = server.server.hashing
            let hold = try await Hold(pool)
            let waiting = try await fill(pool) { _ in nil }
            let code: JSONValue = ["provider": "email", "challengeId": "none", "code": "000000"]
            #expect(try await client.post("/auth/reauthenticate", code, bearer: guest.accessToken).status != 503)
            // No place is held while a provider answers, so a password that its proof does not use counts for nothing.
            let unused: JSONValue = ["provider": "anonymous", "password": "some horse"]
            #expect(try await client.post("/auth/reauthenticate", unused, bearer: guest.accessToken).status != 503)
            let link: JSONValue = ["password": "some horse"]
            #expect(try await client.post("/auth/identities/anonymous", link, bearer: guest.accessToken).status != 503)
            let password: JSONValue = ["provider": "email", "email": "a@example.com", "password": "some horse"]
            #expect(try await client.post("/auth/reauthenticate", password, bearer: guest.accessToken).status == 503)
            #expect(try await client.refresh(guest.refreshToken).status == 200)
            for task in waiting { task.cancel() }
            hold.lift()
            try await hold.end()
        }
    }

    @Test func `the queue shows in the metrics`() async throws {
        try await TestServer.with(patience: .limited) { server in
            let client = APIClient(server)
            let pool = server.server.hashing
            try await eventually("the machine is known") { pool.statistics.averageDuration < .milliseconds(100) }
            #expect(pool.statistics.done == 0)
            _ = try await client.login(AddressOf.nobody)
            let hold = try await Hold(pool)
            let waiting = try await fill(pool) { _ in nil }
            _ = try await client.login(AddressOf.nobody)
            let page = try await client.send(.GET, "/metrics").text
            for line in [
                "gatehouse_hashing_queued \(Double(waiting.count))", "gatehouse_hashing_done_total 1.0",
                "gatehouse_hashing_rejected_total{reason=\"full\"} 2.0",
                "gatehouse_hashing_rejected_total{reason=\"subject\"} 0.0", "gatehouse_hashing_abandoned_total 0.0",
                "# TYPE gatehouse_hashing_wait_seconds histogram", "gatehouse_hashing_duration_seconds_count 1.0",
                "gatehouse_hashing_wait_seconds_bucket{le=\"+Inf\"} \(Double(1 + pool.statistics.workers))",
            ] {
                #expect(page.contains(line + "\n"), "\(line)")
            }
            for task in waiting { task.cancel() }
            hold.lift()
            try await hold.end()
        }
    }

    private func login(
        _ client: APIClient, _ email: String, from address: String
    ) async throws -> APIClient.Answer {
        try await client.post(
            "/auth/login", ["email": .string(email), "password": .string(APIClient.password)],
            headers: ["x-forwarded-for": address])
    }

    /// Queues jobs, each as the given requester, until one is refused.
    private func fill(
        _ pool: HashingPool, as requester: (_ number: Int) -> HashingRequester?
    ) async throws -> [Task<Void, any Error>] {
        var waiting: [Task<Void, any Error>] = []
        while true {
            let (queued, rejected) = (pool.statistics.queued, pool.statistics.rejected)
            let requester = requester(waiting.count)
            let task = Task { try await pool.run(for: requester) {} }
            try await eventually("it waits or is refused") {
                pool.statistics.queued > queued || pool.statistics.rejected > rejected
            }
            guard pool.statistics.rejected == rejected else { return waiting }
            waiting.append(task)
        }
    }
}

private enum AddressOf {
    static let nobody = "nobody@example.com"
}

/// Jobs that occupy every thread of a pool until they are released.
private struct Hold {
    private let gate = DispatchSemaphore(value: 0)
    private let jobs: [Task<Void, any Error>]

    /// Waits until the pool has measured its speed, because that changes how many jobs may wait.
    init(_ pool: HashingPool) async throws {
        try await eventually("the machine is known") { pool.statistics.averageDuration != .milliseconds(100) }
        let gate = gate
        jobs = (0..<pool.statistics.workers).map { _ in Task { try await pool.run { gate.wait() } } }
        try await eventually("all threads are held") { pool.statistics.running == pool.statistics.workers }
    }

    func lift() {
        for _ in jobs { gate.signal() }
    }

    func end() async throws {
        for job in jobs { try await job.value }
    }
}
