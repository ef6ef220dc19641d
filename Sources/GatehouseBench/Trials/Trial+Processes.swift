import AsyncHTTPClient
import Foundation

extension Trial {
    /// From the program's start to its first ready answer, on a database that is migrated.
    static func start(on stage: Stage) -> Trial {
        Trial(name: "start to ready") {
            try await withClient { client in
                var times: [Double] = []
                for number in 1...7 {
                    let start = ContinuousClock.now
                    let server = try await stage.replica("start-\(number)")
                    let ready = PacedLoad(url: server.url("/health/ready"), perSecond: 1)
                    while await ready.run(seconds: 1, client: client).first?.status != 200 {}
                    times.append((ContinuousClock.now - start) / .milliseconds(1))
                    try await server.stop()
                }
                return [try Finding("to the first 200 of /health/ready", times, unit: "ms", atMost: 150)]
            }
        }
    }

    /// A session ends on one replica; how soon the other refuses its access token.
    static func revocation(on stage: Stage) -> Trial {
        Trial(name: "two replicas, a revocation seen by the other") {
            let other = try await stage.replica("replica")
            let times = try await withClient { client in
                var times: [Double] = []
                for _ in 1...200 { times.append(try await revocation(on: stage, seenBy: other, client: client)) }
                return times
            }
            try await other.stop()
            let p99 = times.sorted()[times.count * 99 / 100]
            return [
                try Finding("p50", times, unit: "ms"),
                try Finding("p99", [p99], unit: "ms", atMost: 50),
            ]
        }
    }

    /// From the logout's answer on, in milliseconds.
    private static func revocation(
        on stage: Stage, seenBy other: ServerProcess, client: HTTPClient
    ) async throws -> Double {
        let path = stage.path(of: stage.es256)
        func call(_ server: ServerProcess, _ route: String, bearer: String?, body: String?) async -> PacedLoad.Answer? {
            await PacedLoad(
                url: server.url(path + route), bearer: bearer, bodies: body.map { [$0] } ?? [], perSecond: 1
            ).run(seconds: 1, client: client).first
        }
        let guest = await call(stage.gatehouse, "/api/v1/auth/anonymous", bearer: nil, body: "{}")
        guard let token = guest?.body.firstMatch(of: /"accessToken":"([^"]+)"/).map({ String($0.1) }),
            await call(other, "/api/v1/auth/me", bearer: token, body: nil)?.status == 200,
            await call(stage.gatehouse, "/api/v1/auth/logout", bearer: token, body: "{}")?.status == 204
        else { throw BenchError("no session to end") }
        let start = ContinuousClock.now
        while await call(other, "/api/v1/auth/me", bearer: token, body: nil)?.status == 200 {}
        return (ContinuousClock.now - start) / .milliseconds(1)
    }

    /// Resident memory of a server that has hashed nothing, under sign-ins, and a minute after.
    static func memory(on stage: Stage) -> Trial {
        Trial(name: "memory") {
            let server = try await stage.replica("memory")
            let people = stage.people(of: stage.es256)
            let path = stage.path(of: stage.es256)
            let bodies = people.map { #"{"email":"\#($0.email)","password":"\#(Seeder.password)"}"# }
            let me = try stage.wrk(.get, connections: 64, lines: people.map(\.accessToken))
            let login = try stage.wrk(.post, connections: 8, lines: bodies)
            let fresh = try ProcessStatus.residentMebibytes(of: server.id)
            _ = try await me.run(server.url(path + "/api/v1/auth/me"), seconds: 3)
            let before = try ProcessStatus.residentMebibytes(of: server.id)
            async let signIns = login.run(server.url(path + "/api/v1/auth/login"), seconds: 20)
            var under: [Double] = []
            for _ in 1...18 {
                try await Task.sleep(for: .seconds(1))
                under.append(try ProcessStatus.residentMebibytes(of: server.id))
            }
            _ = try await signIns
            try await Task.sleep(for: .seconds(60))
            let after = try ProcessStatus.residentMebibytes(of: server.id)
            try await server.stop()
            let cores = Double(ProcessInfo.processInfo.activeProcessorCount)
            return [
                try Finding("before anything", [fresh], unit: "MiB", atMost: 60),
                try Finding("before the first hash, after 3 s of GET /auth/me", [before], unit: "MiB", atMost: 60),
                try Finding("under sign-ins", under, unit: "MiB", atMost: before + cores * 64),
                try Finding("60 s after the last", [after], unit: "MiB", atMost: 60),
            ]
        }
    }
}
