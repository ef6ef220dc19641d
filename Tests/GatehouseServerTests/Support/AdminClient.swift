import Accounts
import Administration
import Foundation
import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// A program that looks after accounts with a service key.
struct AdminClient: Sendable {
    let api: APIClient
    let key: String
    /// The id of the key, by which the audit names the caller.
    var actor: JSONValue { ["key": .string(String(key.dropFirst(4).prefix(16)))] }

    static let section = "{ application: demo }"

    init(
        _ server: TestServer, _ scopes: Set<AdminScope> = Set(AdminScope.allCases.filter(\.isForKeys)),
        of name: String = "demo"
    ) async throws {
        api = APIClient(server, application: name == "demo" ? nil : name)
        key = try await server.serviceKey(scopes, of: name)
    }

    /// Acts on an account by the path below it; `reason` is left out if it is `nil`.
    ///
    /// Calls again while the replica runs as many calls of administrators as it may.
    func act(
        _ path: String, on uid: String, _ body: [String: JSONValue] = [:], reason: JSONValue? = APIClient.reason,
        method: HTTPMethod = .POST
    ) async throws -> APIClient.Answer {
        var body = body
        body["reason"] = reason
        let bytes = Array(try JSONEncoder().encode(JSONValue.object(body)))
        while true {
            let answer = try await api.send(
                method, "/api/v1/admin/accounts/\(uid)\(path)", raw: bytes, bearer: key)
            guard answer.status == 503 else { return answer }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    func get(_ path: String, of uid: String) async throws -> APIClient.Answer {
        try await api.get("/admin/accounts/\(uid)\(path)", bearer: key)
    }
}

extension TestServer {
    /// Runs the body against a server with the admin API, `ScriptedProvider` and the phone provider.
    static func administered(
        application: String = "", others: String = "",
        _ body: @Sendable @escaping (TestServer, AdminClient) async throws -> Void
    ) async throws {
        try await with(
            application: application, providers: "scripted: {}\nphone: { enabled: true }", others: others,
            admin: AdminClient.section
        ) { server in
            try await body(server, AdminClient(server))
        }
    }

    /// The events of the body, without the ends of sessions.
    func acts(while body: () async throws -> Void) async throws -> [Audited] {
        try await audited(while: body).filter { $0.event != "session.ended" }
    }
}
