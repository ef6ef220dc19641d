import Accounts
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOEmbedded
import ProviderKit
import Testing

@testable import GatehouseServer
@testable import HTTPAPI

/// No call of a dialect is guarded less than the call of version 1 that does the same, by their declarations.
struct DialectDeclarationTests {
    /// The access of operations that version 1 guards in another way, and why that is not less.
    private static let access: [String: Access] = [
        // Without the current password, the operation itself requires a recent sign-in.
        "password.change": .bearer,
        // The flow only signs in; version 1 takes a token to re-authenticate its account.
        "redirect.begin": .open,
        // Version 1 also takes a dead token with a living refresh token.
        "session.logout": .bearer,
    ]

    /// The operations that only dialects have.
    private static let own: Set<String> = [
        "session.validate", "session.lock", "session.unlock", "pin.status", "pin.write", "pin.remove",
    ]

    private static let bodies = [
        "{}", #"{"email":"a@example.com","password":"p","newPassword":"n","currentPassword":"c","name":"n"}"#,
    ]

    private func prepared(_ endpoint: Endpoint, body: String) -> (limit: String, hashes: Bool) {
        let source = ApplicationRequestContextSource(channel: EmbeddedChannel(), logger: Logger(label: "test"))
        let head = HTTPRequest(method: endpoint.method, scheme: "https", authority: "localhost", path: endpoint.path)
        let request = IncomingRequest(
            request: Request(head: head, body: .init(buffer: ByteBuffer())), context: APIRequestContext(source: source),
            body: ByteBuffer(string: body))
        let prepared = endpoint.prepare(request, ProviderRegistry(installedKinds: [], configured: []))
        return ("\(prepared.limit)", prepared.hashesPassword)
    }

    @Test func `every call has the name, limit, freshness and hashing of version 1`() async throws {
        try await TestServer.with { server in
            let endpoints = server.server.api.endpoints
            let calls = endpoints.filter { $0.dialect != nil && !$0.path.hasPrefix("/openapi/") }
            let v1 = endpoints.filter { $0.dialect == nil && $0.path.hasPrefix(base + "/") }
            var compared: Set<String> = []
            for call in calls {
                let (name, about): (String, Comment) = (call.guards.name, "\(call.method) \(call.path)")
                guard let same = v1.first(where: { $0.guards.name == name }) else {
                    #expect(Self.own.contains(name) || name.hasPrefix("immich.read "), about)
                    let needsToken = call.guards.access == .bearer
                    #expect(needsToken == Self.own.contains(name), about)
                    continue
                }
                compared.insert(name)
                let access = Self.access[name] ?? same.guards.access
                #expect(call.guards.access == access, about)
                #expect(call.guards.isLimited == same.guards.isLimited, about)
                // The limit `general` is counted by route.
                #expect(call.route == same.route, about)
                for body in Self.bodies {
                    let (one, other) = (prepared(call, body: body), prepared(same, body: body))
                    #expect(one.limit == other.limit, about)
                    #expect(one.hashes || !other.hashes, about)
                }
            }
            let expected: Set<String> = [
                "account.show", "account.update", "password.signIn", "password.change", "redirect.begin",
                "redirect.redeem", "session.logout",
            ]
            #expect(compared == expected)
        }
    }
}
