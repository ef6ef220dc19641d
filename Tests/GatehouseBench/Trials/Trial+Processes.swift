import AsyncHTTPClient

extension Trial {
    private static let patience = Duration.seconds(5)

    /// Measures the time from the start of the program until it reports that it is ready, on a migrated database.
    static func start(on stage: Stage) -> Trial {
        Trial(name: "start to ready") { findings in
            let times = try await withClient { client in
                var times: [Double] = []
                for number in 1...7 {
                    let start = ContinuousClock.now
                    let time = try await stage.withReplica("start-\(number)") { server in
                        _ = try await answer(from: server.url("/health/ready"), status: 200, client: client)
                        return (ContinuousClock.now - start) / .milliseconds(1)
                    }
                    times.append(time)
                }
                return times
            }
            findings.append(try Finding("to the first 200 of /health/ready", times, unit: "ms", .all(atMost: 150)))
        }
    }

    /// Measures how soon another replica refuses the access token of a session that ended on this one.
    static func revocation(on stage: Stage) -> Trial {
        Trial(name: "two replicas, a revocation seen by the other") { findings in
            let times = try await stage.withReplica("replica") { other in
                try await withClient { client in
                    var times: [Double] = []
                    for _ in 1...200 { times.append(try await revocation(on: stage, seenBy: other, client: client)) }
                    return times
                }
            }
            findings.append(try Finding("p50", times, unit: "ms"))
            findings.append(try Finding("p99", [times.sorted()[times.count * 99 / 100]], unit: "ms", .all(atMost: 50)))
        }
    }

    /// Returns the milliseconds between the response to the logout and the first refusal.
    private static func revocation(
        on stage: Stage, seenBy other: ServerProcess, client: HTTPClient
    ) async throws -> Double {
        let path = stage.path(of: stage.es256) + "/api/v1/auth"
        let guest = await PacedLoad.one(
            stage.gatehouse.url(path + "/anonymous"), body: RequestBody.empty, client: client)
        let (me, logout) = (other.url(path + "/me"), stage.gatehouse.url(path + "/logout"))
        guard let token = guest?.body.firstMatch(of: /"accessToken":"([^"]+)"/).map({ String($0.1) }),
            await PacedLoad.one(me, bearer: token, client: client)?.status == 200,
            await PacedLoad.one(logout, bearer: token, body: RequestBody.empty, client: client)?.status == 204
        else { throw BenchError("no session to end") }
        let start = ContinuousClock.now
        _ = try await answer(from: me, bearer: token, status: 401, client: client)
        return (ContinuousClock.now - start) / .milliseconds(1)
    }

    /// Repeats a request until the response has the given status.
    private static func answer(
        from url: String, bearer: String? = nil, status: UInt, client: HTTPClient
    ) async throws -> PacedLoad.Answer {
        let deadline = ContinuousClock.now + patience
        while true {
            let answer = await PacedLoad.one(url, bearer: bearer, client: client)
            if let answer, answer.status == status { return answer }
            guard .now < deadline else {
                throw BenchError("\(url) still answers \(answer?.status ?? 0) after \(patience), not \(status)")
            }
        }
    }
}

extension PacedLoad {
    fileprivate static func one(
        _ url: String, bearer: String? = nil, body: String? = nil, client: HTTPClient
    ) async -> Answer? {
        await PacedLoad(url: url, bearer: bearer, bodies: body.map { [$0] } ?? [], perSecond: 1)
            .run(seconds: 1, client: client).first
    }
}
