import Accounts
import Foundation

extension Row {
    /// More calls than a run makes.
    static let calls = 12_000
    private static let connections = 64

    /// Measures links of identities that no account has, distributed over accounts that have `identities` each.
    static func link(_ name: String, on stage: Stage, accounts: Int, identities: Int = 1) throws -> Row {
        let path = "\(stage.path(of: stage.es256))/api/v1/auth/identities/loopback"
        let gatehouse = Contender(name: "Gatehouse", seconds: 4) {
            let owners = try await stage.seeder.owners(accounts, identities: identities, in: stage.es256)
            let lines = try stage.identityProvider.newPeople(calls).enumerated().map { index, token in
                "POST \(path) \(owners.accessTokens[index % accounts]) \(RequestBody.idToken(token))"
            }
            return try load(lines, on: stage)
        }
        let writes = try PgbenchLinking(.link(accounts: accounts, identities: identities), stage: stage)
        return Row(
            name: "link by ID token, \(name)", aim: 0.6, gatehouse: gatehouse,
            limits: [.es256SigningAndVerifying(seconds: 1), writes.contender(seconds: 3)],
            processes: stage.processes)
    }

    /// Measures removals of the second of three identities.
    static func unlink(on stage: Stage) throws -> Row {
        let path = "\(stage.path(of: stage.es256))/api/v1/auth/identities"
        let gatehouse = Contender(name: "Gatehouse", seconds: 4) {
            let owners = try await stage.seeder.owners(calls, identities: 3, in: stage.es256)
            let lines = owners.accessTokens.enumerated().map { position, token in
                "DELETE \(path)/\(owners.identity(1, at: position)) \(token) {}"
            }
            return try load(lines, on: stage)
        }
        return Row(
            name: "unlink", aim: 0.6, gatehouse: gatehouse,
            limits: [try PgbenchLinking(.unlink, stage: stage).contender(seconds: 3)], processes: stage.processes)
    }

    /// Measures merges of two accounts with two identities each.
    static func merge(on stage: Stage) throws -> Row {
        let path = "\(stage.path(of: stage.es256))/api/v1/auth/merge"
        let gatehouse = Contender(name: "Gatehouse", seconds: 4) {
            let owners = try await stage.seeder.owners(2 * calls, identities: 2, in: stage.es256)
            let tickets = try await stage.seeder.mergeTickets(for: owners, in: stage.es256)
            let lines = tickets.enumerated().map { index, ticket in
                "POST \(path) \(owners.accessTokens[2 * index]) {\"mergeToken\":\"\(ticket)\"}"
            }
            return try load(lines, on: stage)
        }
        return Row(
            name: "merge, ES256", aim: 0.6, gatehouse: gatehouse,
            limits: [.es256Signing(seconds: 1), try PgbenchLinking(.merge, stage: stage).contender(seconds: 3)],
            processes: stage.processes)
    }

    private static func load(_ lines: [String], on stage: Stage) throws -> Contender.Measured {
        let load = try stage.wrk(.calls, connections: connections, lines: lines)
        return { seconds in try await load.run(stage.gatehouse.url(""), seconds: seconds) }
    }
}
