import Accounts
import Foundation
import ProviderKit
import Testing

@testable import GatehouseServer

/// The limit of identities of an account.
struct IdentityLimitTests {
    private static let limited = "linking: { maximumIdentities: 3 }"

    private func expectLimit(_ answer: APIClient.Answer, sourceLocation: SourceLocation = #_sourceLocation) {
        expectError(answer, 409, "LIMIT_REACHED", sourceLocation: sourceLocation)
        #expect(answer.json["error"]["details"]["limit"] == 3, sourceLocation: sourceLocation)
        #expect(answer.json["error"]["details"]["rule"] == "account.full", sourceLocation: sourceLocation)
    }

    @Test func `a link beyond the limit is refused, and possible again after an unlink`() async throws {
        try await TestServer.linking(application: Self.limited) { server, client in
            let person = try await client.register(at: server)
            for subject in ["one", "two"] {
                #expect(try await client.link(.somebody(subject), bearer: person.accessToken).status == 200)
            }
            expectLimit(try await client.link(.somebody("three"), bearer: person.accessToken))
            #expect(
                try await client.link(.somebody("two"), bearer: person.accessToken).status == 200, "it has this one")
            #expect(try await client.identities(bearer: person.accessToken).count == 3)
            let id = try await client.identityID(of: "scripted", bearer: person.accessToken)
            #expect(try await client.delete("/auth/identities/\(id)", bearer: person.accessToken).status == 200)
            #expect(try await client.link(.somebody("three"), bearer: person.accessToken).status == 200)
        }
    }

    @Test func `twenty concurrent links fill an account up to the limit and no further`() async throws {
        try await TestServer.linking(application: Self.limited) { server, client in
            let person = try await client.register(at: server)
            let answers = try await withThrowingTaskGroup(of: APIClient.Answer.self) { group in
                for number in 1...20 {
                    group.addTask { try await client.link(.somebody("s\(number)"), bearer: person.accessToken) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(answers.count { $0.status == 200 } == 2, "\(answers.map(\.status))")
            for refused in answers where refused.status != 200 { expectLimit(refused) }
            #expect(try await client.identities(bearer: person.accessToken).count == 3)
        }
    }

    @Test func `a sign-in joins no full account`() async throws {
        try await TestServer.linking(application: Self.limited) { server, client in
            let person = try await client.register(at: server)
            for subject in ["one", "two"] { _ = try await client.link(.somebody(subject), bearer: person.accessToken) }
            expectLimit(try await client.present(.somebody("three", email: person.email), to: "scripted"))
            #expect(try await client.present(.somebody("two", email: person.email), to: "scripted").status == 200)
        }
    }

    @Test func `accounts that have more identities together are not merged`() async throws {
        try await TestServer.linking(application: Self.limited) { server, client in
            let (ada, eve) = (try await client.register(at: server), try await client.newcomer("eve"))
            _ = try await client.link(.somebody("ada"), bearer: ada.accessToken)
            _ = try await client.link(.somebody("eve2"), bearer: eve.accessToken)
            let ticket = try await client.ticket(.somebody("eve"), bearer: ada.accessToken)
            expectLimit(try await client.merge(ticket, bearer: ada.accessToken, dryRun: true))
            expectLimit(try await client.merge(ticket, bearer: ada.accessToken))
            let id = try await client.identityID(of: "scripted", bearer: ada.accessToken)
            #expect(try await client.delete("/auth/identities/\(id)", bearer: ada.accessToken).status == 200)
            let merged = try await client.merge(ticket, bearer: ada.accessToken)
            #expect(merged.status == 200, "the ticket is not used up: \(merged.text)")
        }
    }

    @Test func `a full account can change an address, and a guest can link`() async throws {
        try await TestServer.linking(application: "linking: { maximumIdentities: 1 }") { server, client in
            let person = try await client.register(at: server)
            let id = try await client.identityID(of: "email", bearer: person.accessToken)
            _ = try await client.changeAddress(of: id, bearer: person.accessToken, at: server)
            let guest = try await client.post("/auth/anonymous")
            let linked = try await client.link(.somebody("former guest"), bearer: guest["accessToken"].string ?? "")
            #expect(linked.status == 200, "\(linked.text)")
        }
    }

    @Test(arguments: ["switch", "merge"])
    func `a guest moves into a full account by its identity, and by none that is new`(choice: String) async throws {
        try await TestServer.linking(application: Self.limited) { server, client in
            let address = APIClient.newAddress()
            let ada = try await client.newcomer("one", email: address)
            for subject in ["two", "three"] {
                _ = try await client.link(.somebody(subject), bearer: ada.accessToken)
            }
            // A code proves the address of the full account, which has no identity of the e-mail provider yet.
            let (guest, other) = (try await client.guest(), try await client.guest())
            var code = try await client.challenge("email", address, at: server, bearer: guest.accessToken)
            code["onConflict"] = .string(choice)
            let refused = try await client.post("/auth/identities/email", .object(code), bearer: guest.accessToken)
            expectError(refused, 409, "IDENTITY_IN_USE")
            #expect(refused["error"]["details"]["mergeToken"] == .null, "\(refused.text)")
            #expect(try await client.get("/auth/me", bearer: guest.accessToken)["isAnonymous"] == true)

            let moved = try await client.link(.somebody("two"), bearer: other.accessToken, onConflict: choice)
            #expect(moved.status == 200 && moved["user"]["id"].string == ada.uid, "\(moved.text)")
            #expect(try await client.identities(bearer: ada.accessToken).count == 3)
        }
    }

    @Test func `a full account can be restored, but not with a password that would be one identity more`() async throws
    {
        try await TestServer.linking(application: Self.limited) { server, client in
            let address = APIClient.newAddress()
            let ada = try await client.newcomer("one", email: address)
            for subject in ["two", "three"] {
                _ = try await client.link(.somebody(subject), bearer: ada.accessToken)
            }
            try await client.deleteAccount(ada)
            func restore(_ refused: APIClient.Answer) async throws -> APIClient.Answer {
                expectError(refused, 403, "ACCOUNT_DELETED")
                return try await client.post(
                    "/auth/account/restore", ["restoreToken": refused["error"]["details"]["restoreToken"]])
            }
            expectLimit(try await restore(try await client.resetPassword(of: address, at: server)))
            #expect(try await server.count("SELECT count(*) FROM accounts WHERE deleted_at IS NOT NULL") == 1)
            #expect(try await server.count("SELECT count(*) FROM passwords") == 0)
            let restored = try await restore(try await client.present(.somebody("one"), to: "scripted"))
            #expect(restored.status == 200 && restored["user"]["id"].string == ada.uid, "\(restored.text)")
            let bearer = restored["accessToken"].string ?? ""
            #expect(try await client.identities(bearer: bearer).count == 3)
        }
    }
}
