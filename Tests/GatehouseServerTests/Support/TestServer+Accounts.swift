import Administration
import Foundation
import ProviderKit
import Testing

@testable import GatehouseServer

extension TestServer {
    /// Runs the body against a server with the admin API, `ScriptedProvider` and the phone provider, with a key that
    /// may read and reveal accounts.
    static func reading(
        providers: String = "", others: String = "", rateLimits: String = "off",
        _ body: @Sendable @escaping (TestServer, APIClient, _ key: String) async throws -> Void
    ) async throws {
        let standard = "phone: { enabled: true }\n" + (providers.isEmpty ? "scripted: {}" : providers)
        try await with(
            providers: standard, others: others, rateLimits: rateLimits, admin: "{ application: demo }"
        ) { server in
            try await body(server, APIClient(server), server.serviceKey([.readAccounts, .revealAccounts]))
        }
    }
}

extension APIClient {
    /// Searches for accounts as an administrator.
    func search(_ criteria: JSONValue, key: String, _ query: String = "") async throws -> Answer {
        try await post("/admin/accounts/search" + query, criteria, bearer: key)
    }

    /// Searches for accounts and returns the results.
    func found(
        _ criteria: JSONValue, key: String, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> [JSONValue] {
        let answer = try await search(criteria, key: key)
        #expect(answer.status == 200, "\(answer.text)", sourceLocation: sourceLocation)
        return answer["items"].array ?? []
    }

    /// Reads a list part by part.
    func parts(of path: String, limit: Int, key: String) async throws -> [[JSONValue]] {
        var (parts, next): ([[JSONValue]], String?) = ([], nil)
        repeat {
            let mark = path.contains("?") ? "&" : "?"
            let after = next.map { "&after=\($0)" } ?? ""
            let answer = try await get("\(path)\(mark)limit=\(limit)\(after)", bearer: key)
            try #require(answer.status == 200, "\(answer.text)")
            parts.append(answer["items"].array ?? [])
            next = answer["next"].string
        } while next != nil && parts.count < 100
        return parts
    }

    /// Shows fields of an account.
    func reveal(
        _ fields: [JSONValue], of uid: String, key: String, reason: JSONValue = Self.reason
    ) async throws -> Answer {
        try await post(
            "/admin/accounts/\(uid)/reveal", ["fields": .array(fields), "reason": reason], bearer: key)
    }
}
