import Accounts
import Administration
import Foundation
import ProviderKit
import Testing

@testable import GatehouseServer

/// What administrators see of a merge that only the person can carry out.
struct MergeForecastTests {
    private func forecast(
        _ admin: AdminClient, _ uid: String, _ other: String, dryRun: JSONValue? = true
    ) async throws -> APIClient.Answer {
        var body: [String: JSONValue] = ["other": .string(other)]
        body["dryRun"] = dryRun
        return try await admin.act("/merge", on: uid, body, reason: nil)
    }

    @Test func `it names what would move, masked, and changes nothing`() async throws {
        try await TestServer.administered { server, admin in
            let (api, phone) = (admin.api, "+33612345678")
            let person = try await api.register(at: server)
            let other = try await api.newcomer("subject-of-bob", email: "bob@mail.example.org")
            let code = try await api.challenge("phone", phone, at: server, bearer: other.accessToken)
            #expect(
                try await api.post("/auth/identities/phone", .object(code), bearer: other.accessToken).status == 200)
            for (bearer, name) in [(person.accessToken, "Ada"), (other.accessToken, "Robert")] {
                _ = try await api.patch(
                    "/auth/me", ["displayName": .string(name), "metadata": ["city": .string(name), name: 1]],
                    bearer: bearer)
            }
            try await server.setAccess(["editor"], of: other.uid)
            let reader = try await AdminClient(server, [.readAccounts])
            let before = try await server.dump()
            let events = try await server.audited {
                let answer = try await forecast(reader, other.uid, person.uid)
                #expect(answer.status == 200, "\(answer.text)")
                #expect(answer["survivor"].string == person.uid && answer["absorbed"].string == other.uid)
                let moves = answer["moves"]
                #expect(moves["identities"].array?.map { $0["providerUid"] } == ["subj•••", "+336•••"])
                #expect(moves["addresses"].array?.compactMap(\.string).sorted() == ["+33•••78", "b•••@m•••.org"])
                #expect(moves["metadata"] == ["Robert"] && moves["displayName"].isNull)
                #expect(answer["collisions"] == ["displayName", "metadata.city"])
                #expect(answer["drops"].array?.map { $0["kind"] } == ["sessions"])
                #expect(answer["warnings"].array?.count == 3, "\(answer.text)")
                for hidden in ["subject-of-bob", "bob@", phone, "Ada"] { #expect(!answer.text.contains(hidden)) }
            }
            #expect(events == [])
            let accounts = { (dump: String) in dump.split(separator: "\n").filter { $0.contains(person.uid) }.count }
            #expect(try await accounts(server.dump()) == accounts(before))
            #expect(try await api.identities(bearer: other.accessToken).count == 2)
        }
    }

    @Test func `only a dry run of two live accounts is answered`() async throws {
        try await TestServer.administered { server, admin in
            let (person, other) = (try await admin.api.newcomer(), try await admin.api.newcomer())
            for dryRun: JSONValue? in [nil, false, .null] {
                expectError(
                    try await forecast(admin, person.uid, other.uid, dryRun: dryRun), 400, "INVALID_PARAMETER")
            }
            expectError(try await admin.act("/merge", on: person.uid, ["dryRun": true]), 400, "MISSING_PARAMETER")
            expectError(try await forecast(admin, person.uid, person.uid), 400, "INVALID_PARAMETER")
            expectError(try await forecast(admin, person.uid, UUID().uuidString), 404, "ACCOUNT_NOT_FOUND")
            expectError(try await forecast(admin, UUID().uuidString, other.uid), 404, "ACCOUNT_NOT_FOUND")
            _ = try await admin.act("/disable", on: other.uid)
            expectError(try await forecast(admin, person.uid, other.uid), 409, "WRONG_STATE")
            let writer = try await AdminClient(server, [.writeAccounts])
            let refused = try await forecast(writer, person.uid, other.uid)
            expectError(refused, 403, "FORBIDDEN")
            #expect(refused["error"]["details"]["scope"] == "accounts:read")
        }
    }
}
