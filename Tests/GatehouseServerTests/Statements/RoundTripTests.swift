import Accounts
import Passwords
import ProviderKit
import Testing

@testable import GatehouseServer

/// Hot paths send one statement to the database; those that send more state the reason.
struct HotPathRoundTripTests {
    @Test func `each path makes the stated number of round trips`() async throws {
        try await HotPathStage.with { stage in
            for path in HotPath.all + HotPath.linking + HotPath.openID {
                // The first call may fetch a key or prepare a statement, so it is not measured.
                _ = try await path.measure(on: stage)
                let measured = try await path.undisturbed(on: stage)
                #expect(
                    measured.statements.count == path.statements,
                    "\(path.name): \(measured.statements.map { $0.prefix(200) })")
                #expect(measured.waits == path.roundTrips, "\(path.name)")
                #expect(path.roundTrips == 1 || !path.reason.isEmpty, "\(path.name)")
            }
        }
    }

    /// docs/architecture.md gives the reasons for the exceptions.
    @Test func `a change of identities takes at most three round trips, except two with codes`() {
        let longer = HotPath.linking.filter { $0.roundTrips > 3 }.map { "\($0.name): \($0.roundTrips)" }
        #expect(longer == ["linking with a code: 4", "changing an address with a code: 6"])
    }

    @Test func `a call that the full hashing queue refuses sends no statement`() async throws {
        try await HotPathStage.with(rateLimits: "{ login: 1000/min, register: 1000/min }") { stage in
            let person = try await stage.client.register(at: stage.server)
            let pool = stage.server.server.hashing
            try await eventually("the machine is known") { pool.statistics.averageDuration != .milliseconds(100) }
            for number in 0... {
                let requester = HashingRequester(network: "\(number)", subject: nil)
                guard (try? pool.reserve(for: requester)) != nil else { break }
            }
            let (email, password) = (JSONValue.string(person.email), JSONValue.string(person.password))
            let calls: [(path: String, body: JSONValue)] = [
                ("/auth/login", ["email": email, "password": password]),
                ("/auth/register", ["email": email, "password": password]),
                ("/auth/reset-password", ["token": "x", "newPassword": password]),
                ("/auth/verify-email", ["token": "x", "password": password]),
                ("/auth/reauthenticate", ["provider": "email", "email": email, "password": password]),
                ("/auth/identities/email", ["email": email, "password": password]),
            ]
            for call in calls {
                try await stage.settle()
                var statements = [""]
                // A background service may send a statement at the same moment.
                for _ in 0..<20 where !statements.isEmpty {
                    statements = try await stage.observed.log.statements {
                        let answer = try await stage.client.post(call.path, call.body, bearer: person.accessToken)
                        expectError(answer, 503, "OVERLOADED")
                    }.1
                }
                #expect(statements.isEmpty, "\(call.path): \(statements.map { $0.prefix(200) })")
            }
        }
    }

    @Test func `a rate limit costs the path one more round trip`() async throws {
        try await HotPathStage.with(rateLimits: "{ refresh: 1000/min, anonymous: 1000/min }") { stage in
            for path in HotPath.all where ["me", "refresh", "anonymous sign-in", "JWKS"].contains(path.name) {
                let limits = ["refresh", "anonymous sign-in"].contains(path.name) ? 1 : 0
                let statements = try await path.undisturbed(on: stage, further: limits).statements
                #expect(
                    statements.count == path.statements + limits, "\(path.name): \(statements.map { $0.prefix(80) })")
            }
        }
    }
}
