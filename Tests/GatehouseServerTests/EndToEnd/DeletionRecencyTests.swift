import Accounts
import Foundation
import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// How recent an authentication must be for the deletion of an account, which applications may set apart.
struct DeletionRecencyTests {
    @Test(
        arguments: [
            ("300", .seconds(300), .seconds(300)),
            ("{ default: 2m }", .seconds(120), .seconds(120)),
            ("{ deletion: 1d }", .seconds(300), .seconds(86_400)),
            ("{ default: 300, deletion: off }", .seconds(300), nil),
        ] as [(String, Duration, Duration?)])
    func `a duration is for all calls, and off for the deletion alone`(
        setting: String, most: Duration, toDelete: Duration?
    ) async throws {
        try await TestServer.with(application: "recentAuthentication: \(setting)") { server in
            let policy = try await server.application().policy
            #expect(policy.recentAuthentication == most && policy.recentAuthenticationToDelete == toDelete)
        }
    }

    @Test func `with off an old session deletes its account, and does nothing else that is sensitive`() async throws {
        try await TestServer.with(application: "recentAuthentication: { default: 60, deletion: off }") { server in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            try await server.letPass(.seconds(62))
            let bearer = try #require(try await client.refresh(person.refreshToken)["accessToken"].string)
            let change: JSONValue = ["password": .string(APIClient.otherPassword)]
            expectError(try await client.put("/auth/change-password", change, bearer: bearer), 403, "TOKEN_TOO_OLD")
            expectError(try await client.get("/auth/account/export", bearer: bearer), 403, "TOKEN_TOO_OLD")
            expectError(try await client.delete("/auth/identities/current", bearer: bearer), 403, "TOKEN_TOO_OLD")
            let deleted = try await client.delete("/auth/account", bearer: bearer)
            #expect(deleted.status == 204 && deleted.headers["cache-control"] == ["no-store"])
            expectError(try await client.delete("/auth/account", bearer: bearer), 401, "INVALID_TOKEN")
            let mails = try await client.mails(to: person.email, at: server, count: 2)
            #expect(mails[0].subject?.contains("deleted") == true, "the owner is told")
        }
    }
}
