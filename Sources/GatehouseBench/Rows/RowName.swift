import Accounts
import ArgumentParser
import Foundation
import Passwords

/// The rows by the names that the command line knows them by.
enum RowName: String, CaseIterable, ExpressibleByArgument {
    case signIn = "sign-in"
    case refresh
    case me

    func rows(on stage: Stage) throws -> [Row] {
        switch self {
        case .signIn: [try signIn(on: stage)]
        case .refresh:
            [
                try refresh(on: stage, application: stage.rs256, aim: 0.7, limit: .rs256Signing(seconds: 2)),
                try refresh(on: stage, application: stage.es256, aim: nil, limit: .es256Signing(seconds: 1)),
            ]
        case .me: [try me(on: stage)]
        }
    }

    /// More connections than threads that hash, and few enough that nobody is refused for having to wait too long.
    private func signIn(on stage: Stage) throws -> Row {
        let people = stage.people(of: stage.rs256)
        let bodies = people.map { #"{"email":"\#($0.email)","password":"\#(Seeder.password)"}"# }
        let load = try stage.wrk(.login, connections: 8, lines: bodies)
        return Row(
            name: "password sign-in", aim: 0.9,
            gatehouse: .wrk(load, at: stage.gatehouse.url("/api/v1/auth/login"), name: "Gatehouse", seconds: 6),
            limits: [.rawArgon2(.standard, seconds: 6)], processes: stage.processes)
    }

    private func refresh(on stage: Stage, application: Application, aim: Double?, limit: Contender) throws -> Row {
        let policy = application.policy.tokens
        let algorithm = policy.algorithm == .rs256 ? "RS256, \(policy.rsaBits) bits" : policy.algorithm.rawValue
        let url = stage.gatehouse.url("\(stage.path(of: application))/api/v1/auth/refresh")
        let connections = 64
        let gatehouse = Contender(name: "Gatehouse", seconds: 5) {
            // Each connection goes on with the token that it was given; some tokens are lost on the way.
            let tokens = try await stage.seeder.refreshTokens(
                2 * connections, for: stage.people(of: application), in: application)
            let load = try stage.wrk(.refresh, connections: connections, lines: tokens)
            return { seconds in try await load.run(url, seconds: seconds) }
        }
        let rotation = try PgbenchRotation(stage: stage, application: application)
        return Row(
            name: "refresh, \(algorithm)", aim: aim, gatehouse: gatehouse,
            limits: [limit, rotation.contender(seconds: 3)], processes: stage.processes)
    }

    /// The empty routes get the very same requests, bearer included.
    private func me(on stage: Stage) throws -> Row {
        let load = try stage.wrk(.get, connections: 64, lines: stage.people(of: stage.rs256).map(\.accessToken))
        func contender(_ url: String, _ name: String) -> Contender {
            .wrk(load, at: url, name: name, seconds: 4)
        }
        return Row(
            name: "GET /auth/me", aim: 0.6,
            gatehouse: contender(stage.gatehouse.url("/api/v1/auth/me"), "Gatehouse"),
            limits: [contender(stage.emptyRoute.url(EmptyRoute.bytes), "empty Hummingbird route, ready bytes")],
            references: [contender(stage.emptyRoute.url(EmptyRoute.encoded), "the same with JSONEncoder")],
            processes: stage.processes)
    }
}
