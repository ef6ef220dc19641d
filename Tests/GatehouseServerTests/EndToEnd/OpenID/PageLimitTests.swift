import Foundation
import ProviderKit
import Testing

@testable import GatehouseServer
@testable import HTTPAPI

/// The forms of the pages count toward the limit `general` of the REST routes that do the same.
struct PageLimitTests {
    /// The calls that only pages have.
    private static let ofPages: Set = ["POST /api/v1/account/sessions"]

    /// The values that routes interpolate, by the expression in the source.
    private static let interpolated = [
        "provider.kind": kinds { $0 is any GatewayProvider.Type },
        "sent.kind": kinds { $0 is any ChallengeProvider.Type },
    ]

    private static func kinds(where isMeant: (any Provider.Type) -> Bool) -> [String] {
        TestServer.providers.kinds.filter(isMeant).map { $0.kind }
    }

    /// The routes that the sources of `OpenID` name, with each value of their interpolation.
    private static func routes() throws -> Set<String> {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../../Sources/OpenID").standardizedFileURL
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
        var routes: Set<String> = []
        for file in files {
            let source = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
            let calls = source.matches(of: /asCallOf: "([^"\n]+)"/)
            // Fails if a route is written in a form that the search does not recognise.
            let all = source.matches(of: /asCallOf(?! route: String|: route,)|RateSubject\([^)]*route:(?! route\))/)
            try #require(calls.count == all.count, "\(file)")
            for call in calls {
                let route = String(call.output.1)
                guard let part = route.firstMatch(of: /\\\(([^)]+)\)/) else {
                    routes.insert(route)
                    continue
                }
                let values = try #require(interpolated[String(part.output.1)], "\(route) in \(file)")
                try #require(!values.isEmpty, "\(route) in \(file)")
                routes.formUnion(values.map { route.replacing(part.output.0, with: $0) })
            }
        }
        return routes
    }

    @Test func `each route that a form counts as a call of is served`() async throws {
        let routes = try Self.routes()
        #expect(routes.count > 15)
        try await TestServer.with { server in
            let served = server.server.api.endpoints.map(\.route)
            #expect(routes.subtracting(served) == Self.ofPages)
        }
    }
}
