import Accounts
import Foundation
import NIOHTTP1
import Passwords
import Postgres
import ProviderKit
import Testing

@testable import GatehouseServer

/// What an attacker can measure of one request; it must not reveal whose address it was.
struct Observation: Equatable, CustomStringConvertible {
    let status: Int
    /// The headers without the values that differ in each request.
    let headers: [String]
    let shape: String
    let statements: [String]
    let hashes: Int
    let rows: [String: Int]

    var description: String {
        "\(status) \(headers) \(shape), \(hashes) hashes, \(rows), \(statements.map { $0.prefix(48) })"
    }
}

/// A server whose statements are all logged.
struct ObservedServer: Sendable {
    let server: TestServer
    let log: StatementLog
    let client: APIClient

    static func with(
        application: String = "", providers: String = "",
        _ body: @Sendable @escaping (ObservedServer) async throws -> Void
    ) async throws {
        try await StatementLog.with { log in
            try await TestServer.with(
                database: log.databaseURL, application: application, providers: providers
            ) { server in
                try await body(ObservedServer(server: server, log: log, client: APIClient(server)))
            }
        }
    }

    /// Sends a POST and returns everything that an attacker could measure, with the response.
    func observe(
        _ path: String, _ body: JSONValue, method: HTTPMethod = .POST, below base: String = "/api/v1"
    ) async throws -> (Observation, APIClient.Answer) {
        let before = try await rows()
        let hashesBefore = server.server.hashing.statistics.done
        let json = Array(try JSONEncoder().encode(body))
        let (answer, statements) = try await log.statements {
            try await client.send(method, base + path, raw: json)
        }
        let hashes = server.server.hashing.statistics.done - hashesBefore
        let after = try await rows()
        let observation = Observation(
            status: answer.status, headers: answer.lastingHeaders, shape: answer.json.shape, statements: statements,
            hashes: hashes, rows: after.merging(before) { $0 - $1 })
        return (observation, answer)
    }

    private func rows() async throws -> [String: Int] {
        [
            "outbox": try await server.count("SELECT count(*) FROM outbox"),
            "proofs": try await server.count("SELECT count(*) FROM proofs"),
            "accounts": try await server.count("SELECT count(*) FROM accounts"),
            "sessions": try await server.count("SELECT count(*) FROM sessions"),
        ]
    }
}

extension APIClient.Answer {
    fileprivate var lastingHeaders: [String] {
        let volatile: Set<String> = ["date", "x-request-id"]
        return headers.filter { !volatile.contains($0.name.lowercased()) }.map { name, value in
            name.lowercased() == "retry-after" ? name : "\(name): \(value)"
        }
    }
}

extension JSONValue {
    /// The keys of the value and the types of its members; error codes and messages are kept as they are.
    fileprivate var shape: String {
        switch self {
        case .object(let members):
            let parts = members.sorted { $0.key < $1.key }.map { key, value in
                ["code", "message"].contains(key) ? "\(key)=\(value.string ?? "")" : "\(key):\(value.shape)"
            }
            return "{\(parts.joined(separator: ","))}"
        case .array(let items): return "[\(items.map(\.shape).joined(separator: ","))]"
        case .string: return "string"
        case .bool: return "bool"
        case .null: return "null"
        default: return "number"
        }
    }
}
