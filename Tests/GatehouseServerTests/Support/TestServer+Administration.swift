import Accounts
import Administration
import ProviderKit
import Testing

@testable import GatehouseServer

extension TestServer {
    /// The secret of a new service key of the application, by default `demo`.
    func serviceKey(
        _ scopes: Set<AdminScope> = Set(AdminScope.allCases.filter(\.isForKeys)), clients: [String] = [],
        lifetime: Duration = .seconds(3600), of name: String = "demo"
    ) async throws -> String {
        let application = try await application(named: name)
        let keys = ServiceKeys(store: backend.store, limits: nil)
        return try await keys.make(
            named: "test", scopes: scopes, clients: clients, lifetime: lifetime, longest: .seconds(365 * 86_400),
            by: Self.operations, in: application
        ).text
    }

    func application(named name: String) async throws -> Accounts.Application {
        let applications = try await backend.applications(of: backend.configuration)
        return try #require(applications.first { $0.name == name })
    }
}

extension APIClient {
    /// The reason of an act.
    static let reason: JSONValue = ["code": "person-asked", "ticket": "T-1"]
}
