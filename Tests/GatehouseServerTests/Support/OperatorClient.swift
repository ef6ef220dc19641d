import Administration
import NIOHTTP1
import ProviderKit
import Synchronization

@testable import GatehouseServer

/// A program that calls the admin API with a service key.
struct OperatorClient: Sendable {
    let api: APIClient
    let key: String

    static let admin = "{ application: demo }"

    /// A client with a key of the application that has all scopes that a key can have, or the given ones.
    static func of(
        _ server: TestServer, application: String = "demo",
        _ scopes: Set<AdminScope> = Set(AdminScope.allCases.filter(\.isForKeys))
    ) async throws -> OperatorClient {
        OperatorClient(
            api: APIClient(server, application: application),
            key: try await server.serviceKey(scopes, of: application))
    }

    func get(_ path: String) async throws -> APIClient.Answer { try await api.get("/admin\(path)", bearer: key) }

    /// Sends a question, which has no reason.
    func ask(_ path: String, _ body: JSONValue = [:]) async throws -> APIClient.Answer {
        try await api.post("/admin\(path)", body, bearer: key)
    }

    /// Sends an act with its reason.
    func act(_ path: String, _ body: [String: JSONValue] = [:]) async throws -> APIClient.Answer {
        try await ask(path, .object(body.merging(["reason": APIClient.reason]) { own, _ in own }))
    }

    /// All items of a list, read in parts.
    func all(_ path: String, limit: Int = 2) async throws -> [JSONValue] {
        var (items, next): ([JSONValue], String?) = ([], nil)
        let separator = path.contains("?") ? "&" : "?"
        repeat {
            let answer = try await get("\(path)\(separator)limit=\(limit)" + (next.map { "&after=\($0)" } ?? ""))
            guard answer.status == 200, let part = answer["items"].array else { return [] }
            items += part
            next = answer["next"].string
        } while next != nil && items.count < 1000
        return items
    }
}

/// A switch that a script of a test's receiver reads.
final class Flag: Sendable {
    private let state = Mutex(false)

    var isOn: Bool { state.withLock { $0 } }

    func turnOn() { state.withLock { $0 = true } }
}
