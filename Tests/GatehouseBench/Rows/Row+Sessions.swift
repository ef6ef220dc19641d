import Accounts

extension Row {
    static func refresh(on stage: Stage, application: Application, aim: Double?, limit: Contender) throws -> Row {
        let policy = application.policy.tokens
        let algorithm = policy.algorithm == .rs256 ? "RS256, \(policy.rsaBits) bits" : policy.algorithm.rawValue
        let rotation = try PgbenchRotation(stage: stage, application: application)
        return Row(
            name: "refresh, \(algorithm)", aim: aim,
            gatehouse: refreshes("Gatehouse", on: stage, application: application),
            limits: [limit, rotation.contender(seconds: 3)], processes: stage.processes)
    }

    static func refreshes(_ name: String, on stage: Stage, application: Application) -> Contender {
        let url = stage.gatehouse.url("\(stage.path(of: application))/api/v1/auth/refresh")
        let connections = 64
        return Contender(name: name, seconds: 5) {
            // Each connection continues with the token that it received. Some tokens are lost when a run ends.
            let tokens = try await stage.seeder.refreshTokens(
                2 * connections, for: stage.people(of: application), in: application)
            let load = try stage.wrk(.refresh, connections: connections, lines: tokens)
            return { seconds in try await load.run(url, seconds: seconds) }
        }
    }

    /// Measures `GET /auth/me`.
    ///
    /// The empty routes get the same requests, including the bearer.
    static func me(on stage: Stage) throws -> Row {
        let load = try stage.wrk(.get, connections: 64, lines: stage.people(of: stage.rs256).map(\.accessToken))
        func contender(_ url: String, _ name: String) -> Contender {
            .wrk(load, at: url, name: name, seconds: 4)
        }
        return Row(
            name: "GET /auth/me", aim: 0.7,
            gatehouse: contender(stage.gatehouse.url("/api/v1/auth/me"), "Gatehouse"),
            limits: [contender(stage.emptyRoute.url(EmptyRoute.bytes), "empty Hummingbird route, ready bytes")],
            references: [contender(stage.emptyRoute.url(EmptyRoute.encoded), "the same with JSONEncoder")],
            processes: stage.processes)
    }

    /// Measures a public call that needs no database.
    static func open(_ path: String, on stage: Stage) throws -> Row {
        let load = try stage.wrk(.plain, connections: 64, lines: [""])
        func contender(_ url: String, _ name: String) -> Contender {
            .wrk(load, at: url, name: name, seconds: 3)
        }
        return Row(
            name: "GET \(path)", aim: 0.95, gatehouse: contender(stage.gatehouse.url(path), "Gatehouse"),
            limits: [contender(stage.emptyRoute.url(EmptyRoute.bytes), "empty Hummingbird route, ready bytes")],
            processes: stage.processes)
    }
}
