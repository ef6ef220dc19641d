import Accounts
import NIOHTTP1
import ProviderKit
import Testing
import Tokens

@testable import GatehouseServer

/// A session that ends on one replica is refused by all replicas within a second, with or without notifications.
@Suite(.serialized) struct RevocationTests {
    /// The documented limit of one second, measured from the response that acknowledged the end.
    private static let limit: Duration = .seconds(1)

    @Test(arguments: SessionEnding.allCases)
    func anEndedSessionIsRefusedByTheOtherReplica(ending: SessionEnding) async throws {
        try await Replicas.with { replicas in
            let (first, second) = replicas.clients
            let person = try await replicas.register()
            try await #require(second.status(of: person.accessToken) == 200)
            let bystander = try await first.guest()
            try await ending.end(person, on: replicas)
            let elapsed = try await second.timeToRefusal(of: person.accessToken)
            print("\(ending): refused by the other replica after \(elapsed.milliseconds) ms")
            #expect(elapsed < Self.limit)
            #expect(try await second.status(of: bystander.accessToken) == 200)
        }
    }

    @Test func aCutJustBeforeTheEndHidesNothing() async throws {
        try await Replicas.with { replicas in
            let (first, second) = replicas.clients
            var longest: Duration = .zero
            for _ in 0..<20 {
                let guest = try await first.guest()
                try await #require(second.status(of: guest.accessToken) == 200)
                try await eventually("there is a listener to cut") { try await replicas.cutListener() > 0 }
                try await SessionEnding.logout.end(guest, on: replicas)
                longest = max(longest, try await second.timeToRefusal(of: guest.accessToken))
            }
            print("listener cut just before, 20 times: refused after \(longest.milliseconds) ms at most")
            #expect(longest < Self.limit)
        }
    }

    @Test func aListenerThatStaysCutHidesNothing() async throws {
        try await Replicas.with { replicas in
            let (first, second) = replicas.clients
            let bystander = try await first.guest()
            let cutter = Task {
                var cuts = 0
                while !Task.isCancelled { cuts += (try? await replicas.cutListener()) ?? 0 }
                return cuts
            }
            defer { cutter.cancel() }
            let (ended, longest) = try await endSessions(for: .seconds(2), on: replicas)
            // A refused bearer stays refused, first by looking up its row, later by the reloaded list and
            // notifications.
            for bearer in ended { #expect(try await second.status(of: bearer) == 401) }
            cutter.cancel()
            let cuts = await cutter.value
            for bearer in ended { #expect(try await second.status(of: bearer) == 401) }
            print(
                "listener cut \(cuts) times in a row: \(ended.count) sessions ended,",
                "refused after \(longest.milliseconds) ms at most")
            #expect(cuts > 1)
            #expect(longest < Self.limit)
            #expect(try await second.status(of: bystander.accessToken) == 200)
        }
    }

    @Test func aDeafReplicaAsksForTheSession() async throws {
        try await Replicas.with { replicas in
            let (first, second) = replicas.clients
            let bystander = try await first.guest()
            try await #require(second.status(of: bystander.accessToken) == 200)
            try await replicas.deafen()
            let (ended, longest) = try await endSessions(for: .seconds(2), on: replicas)
            print("deaf for 2 s: \(ended.count) sessions ended, refused after \(longest.milliseconds) ms at most")
            #expect(longest < Self.limit)
            #expect(try await second.status(of: bystander.accessToken) == 200)
            try await replicas.readmit()
            try await eventually("the replica listens again") { try await replicas.cutListener() > 0 }
            for bearer in ended { #expect(try await second.status(of: bearer) == 401) }
        }
    }

    @Test func aTokenStaysRefusedWhereTokensLiveShorterByNow() async throws {
        try await TestServer.with { first in
            let client = APIClient(first)
            let (ended, live) = (try await client.guest(), try await client.guest())
            let tokens = [
                try await first.token(of: ended, issuedAgo: 7200), try await first.token(of: live, issuedAgo: 7200),
            ]
            try #require(await client.post("/auth/logout", bearer: tokens[0]).status == 204)
            try await first.age("sessions", "ended_at", by: "1 hour")
            try await TestServer.with(
                database: first.databaseURL, tokens: "algorithm: ES256, accessLifetime: 60"
            ) { second in
                _ = try await eventually("the replica has loaded") { try await second.hasLoadedRevocations() }
                #expect(try await APIClient(second).status(of: tokens[0]) == 401)
                #expect(try await APIClient(second).status(of: tokens[1]) == 200)
            }
        }
    }

    /// Ends sessions one after the other and returns their bearers and the longest time until the second replica
    /// refused one.
    private func endSessions(
        for period: Duration, on replicas: Replicas
    ) async throws -> (ended: [String], longest: Duration) {
        let (first, second) = replicas.clients
        var ended: [String] = []
        var longest: Duration = .zero
        let clock = ContinuousClock()
        let start = clock.now
        while clock.now - start < period {
            let guest = try await first.guest()
            try await #require(second.status(of: guest.accessToken) == 200)
            try await SessionEnding.logout.end(guest, on: replicas)
            longest = max(longest, try await second.timeToRefusal(of: guest.accessToken))
            ended.append(guest.accessToken)
        }
        return (ended, longest)
    }

    @Test func aReplicaWithoutItsDatabaseAnswers503AndComesBack() async throws {
        try await Replicas.with { replicas in
            let (first, second) = replicas.clients
            let (kept, ended) = (try await first.guest(), try await first.guest())
            for guest in [kept, ended] { try await #require(second.status(of: guest.accessToken) == 200) }
            try await replicas.cutOff()
            try await SessionEnding.logout.end(ended, on: replicas)
            let clock = ContinuousClock()
            let end = clock.now
            var answer = try await second.get("/auth/sessions", bearer: ended.accessToken)
            while clock.now - end < .seconds(2) {
                let asked = clock.now
                answer = try await second.get("/auth/sessions", bearer: ended.accessToken)
                #expect(asked - end < Self.limit || answer.status != 200)
            }
            #expect(answer.status == 503)
            #expect(answer.code == "OVERLOADED")
            #expect(answer.headers.first(name: "retry-after") != nil)
            #expect(try await second.status(of: kept.accessToken) == 503)
            #expect(try await second.send(.GET, "/health/ready").status == 503)

            try await replicas.readmit()
            let elapsed = try await eventually("the live session is good again") {
                try await second.status(of: kept.accessToken) == 200
            }
            print("a replica serves \(elapsed.milliseconds) ms after its database let it in again")
            #expect(elapsed < .seconds(10))
            #expect(try await second.status(of: ended.accessToken) == 401)
        }
    }
}

extension TestServer {
    /// Signs an access token of the session with a longer lifetime.
    fileprivate func token(of person: Person, issuedAgo seconds: Int) async throws -> String {
        let application = try await application()
        var claims = try await backend.access.verify(person.accessToken, for: application)
        claims.issuedAt -= seconds
        return try await backend.access.sign(claims, for: application)
    }
}
