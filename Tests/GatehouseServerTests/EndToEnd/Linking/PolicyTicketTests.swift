import Accounts
import Foundation
import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// A proof returns a merge token for an account only if a sign-in with it would reach that account.
struct PolicyTicketTests {
    private static let other = "other: { kind: scripted, mode: linkOnly }"

    @Test func `an identity that can only be linked gives no ticket to its account`() async throws {
        try await TestServer.linking(providers: Self.other) { server, client in
            let (ada, eve) = (try await client.newcomer("ada"), try await client.newcomer("eve"))
            #expect(try await client.link(.somebody("x"), bearer: ada.accessToken, provider: "other").status == 200)
            let guest = try await client.guest()
            for (bearer, choice) in [
                (eve.accessToken, nil), (guest.accessToken, "merge"), (guest.accessToken, "switch"),
            ] {
                let refused = try await client.link(
                    .somebody("x"), bearer: bearer, onConflict: choice, provider: "other")
                expectRefusal(refused, 409, "IDENTITY_IN_USE", rule: "identity.in-use")
                #expect(refused.json["error"]["details"]["mergeToken"] == .null, "\(refused.text)")
            }
            #expect(try await client.delete("/auth/account", bearer: ada.accessToken).status == 204)
            let deleted = try await client.link(.somebody("x"), bearer: eve.accessToken, provider: "other")
            expectRefusal(deleted, 403, "ACCOUNT_DELETED", rule: "account.deleted")
            #expect(deleted.json["error"]["details"]["restoreToken"] == .null, "\(deleted.text)")
            #expect(deleted.json["error"]["details"]["purgeAfter"].string != nil)
            #expect(try await server.count("SELECT count(*) FROM proofs WHERE kind IN ('merge', 'restore')") == 0)
        }
    }

    @Test func `an address that joins no account gives no ticket to its owner`() async throws {
        try await TestServer.linking(application: "linking: { automatic: never }") { server, client in
            let address = APIClient.newAddress()
            let (ada, eve) = (try await client.newcomer("ada", email: address), try await client.newcomer("eve"))
            func prove(_ bearer: String) async throws -> APIClient.Answer {
                let code = try await client.challenge("email", address, at: server, bearer: bearer)
                return try await client.post("/auth/identities/email", .object(code), bearer: bearer)
            }
            let refused = try await prove(eve.accessToken)
            expectRefusal(refused, 409, "IDENTITY_IN_USE", rule: "address.in-use")
            #expect(refused.json["error"]["details"]["mergeToken"] == .null, "\(refused.text)")
            #expect(try await client.delete("/auth/account", bearer: ada.accessToken).status == 204)
            let deleted = try await prove(eve.accessToken)
            expectRefusal(deleted, 403, "ACCOUNT_DELETED", rule: "account.deleted")
            #expect(deleted.json["error"]["details"]["restoreToken"] == .null, "\(deleted.text)")
            #expect(try await server.count("SELECT count(*) FROM proofs WHERE kind IN ('merge', 'restore')") == 0)
        }
    }

    @Test func `an identity that can only be linked does not re-authenticate`() async throws {
        try await TestServer.linking(providers: Self.other) { server, client in
            let ada = try await client.newcomer("ada")
            #expect(try await client.link(.somebody("x"), bearer: ada.accessToken, provider: "other").status == 200)
            let refused = try await client.reauthenticate(
                .somebody("x"), bearer: ada.accessToken, provider: "other")
            expectRefusal(refused, 403, "PROVIDER_DISABLED", rule: "provider.link-only")
            #expect(try await server.liveSessions(of: ada.uid) == 2, "that of the sign-in and that of the link")
        }
    }

    @Test func `closed accounts are refused with rule, reason and remedies`() async throws {
        try await TestServer.linking { server, client in
            let person = try await client.register(at: server)
            let eve = try await client.newcomer("eve")
            #expect(try await client.link(.somebody("ada"), bearer: person.accessToken).status == 200)
            let ways: [@Sendable () async throws -> APIClient.Answer] = [
                { try await client.login(person.email) },
                { try await client.present(.somebody("ada")) },
                { try await client.link(.somebody("ada"), bearer: eve.accessToken) },
                {
                    try await client.post(
                        "/auth/email/otp/verify", .object(try await client.challenge("email", person.email, at: server))
                    )
                },
                {
                    try await client.reset(
                        try await client.forget(at: server, person.email), to: APIClient.password)
                },
            ]
            try await client.deleteAccount(person)
            for (index, answer) in ways.enumerated() {
                expectRefusal(try await answer(), 403, "ACCOUNT_DELETED", rule: "account.deleted", "way \(index)")
            }
            let restore = try await client.login(person.email)["error"]["details"]["restoreToken"]
            try await server.setDisabled(true, person)
            for (index, answer) in ways.enumerated() {
                expectRefusal(try await answer(), 403, "ACCOUNT_DISABLED", rule: "account.disabled", "way \(index)")
            }
            expectRefusal(
                try await client.post("/auth/account/restore", ["restoreToken": restore]), 403, "ACCOUNT_DISABLED",
                rule: "account.disabled")
        }
    }

    @Test func `the document names the details of a refusal`() async throws {
        try await TestServer.with { server in
            let document = try await APIClient(server).send(.GET, "/openapi.json").json
            let answer = document["paths"]["/api/v1/auth/login"]["post"]["responses"]["403"]
            let schemas = answer["content"]["application/json"]["schema"]["allOf"].array ?? []
            let details = schemas.compactMap { $0["properties"]["error"]["properties"]["details"]["properties"].object }
            #expect(
                Set(details.first?.keys.map { $0 } ?? [])
                    == ["rule", "reason", "remedies", "purgeAfter", "restoreToken", "ticket"])
        }
    }
}
