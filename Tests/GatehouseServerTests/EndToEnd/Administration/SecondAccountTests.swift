import Accounts
import Administration
import Foundation
import Postgres
import ProviderKit
import Testing

@testable import GatehouseServer

/// `GET /accounts/{uid}/why`: why a person has a second account.
struct SecondAccountTests {
    private func why(
        _ uid: String, besides other: String? = nil, at server: TestServer
    ) async throws -> APIClient.Answer {
        let key = try await server.serviceKey([.readAccounts])
        let query = other.map { "?other=\($0)" } ?? ""
        return try await APIClient(server).get("/admin/accounts/\(uid)/why\(query)", bearer: key)
    }

    /// Signs up with evidence that names the address.
    private func newcomer(
        _ client: APIClient, email: String, isVerified: Bool = true, isTrusted: Bool = true
    ) async throws -> Person {
        let evidence = VerifiedIdentity.somebody(email: email, isVerified: isVerified, isTrusted: isTrusted)
        return try Person(try await client.present(evidence, to: "scripted"), email: email, password: "")
    }

    @Test func `the address was not verified, or its provider is no authority`() async throws {
        try await TimelineTests.with { server, client in
            let ada = try await client.register(at: server)
            for (isVerified, words) in [(false, "did not call the address verified"), (true, "is no authority")] {
                let second = try await newcomer(client, email: ada.email, isVerified: isVerified, isTrusted: false)
                for other in [nil, ada.uid] {
                    let answer = try await why(second.uid, besides: other, at: server)
                    #expect(answer.status == 200 && answer["rule"] == "address.unproven", "\(answer.text)")
                    #expect(answer["verdict"] == "opens a new account")
                    #expect(answer["sentence"].string?.contains(words) == true, "\(answer.text)")
                    let claim: JSONValue = ["kind": "email", "verified": .bool(isVerified), "authoritative": false]
                    #expect(answer["then"]["rule"] == "address.unproven" && answer["then"]["addresses"] == [claim])
                    #expect(answer["now"]["rule"] == "address.unproven", "\(answer.text)")
                    #expect(answer["now"]["addresses"].array?.map { $0["owner"].string } == [ada.uid])
                    #expect(answer["remedies"].array?.isEmpty == false)
                    #expect(!answer.text.contains(ada.email), "no address of another person")
                }
            }
        }
    }

    @Test func `the application joins no identities by their addresses`() async throws {
        try await TimelineTests.with(application: "linking: { automatic: never }") { server, client in
            let ada = try await client.register(at: server)
            let second = try await newcomer(client, email: ada.email)
            let free = try await newcomer(client, email: APIClient.newAddress())
            let answer = try await why(second.uid, besides: ada.uid, at: server)
            #expect(answer["rule"] == "address.not-joined" && answer["now"]["rule"] == "address.not-joined")
            #expect(answer["sentence"].string?.contains("linking.automatic") == true, "\(answer.text)")
            #expect(answer["remedies"].array?.contains { $0.string?.contains("linking.automatic") == true } == true)
            // The events do not tell which of both addresses had an owner.
            let created = try await server.audited().filter {
                $0.event == "account.created" && $0.details["provider"] == "scripted"
            }
            #expect(created.count == 2 && created[0].details == created[1].details, "\(created)")
            #expect(try await why(free.uid, at: server)["now"]["rule"] == "address.proven")
        }
    }

    @Test func `no account owned the address`() async throws {
        try await TimelineTests.with { server, client in
            let address = APIClient.newAddress()
            let first = try await newcomer(client, email: address, isVerified: false)
            let second = try await newcomer(client, email: address)
            #expect(second.uid != first.uid)
            let answer = try await why(second.uid, at: server)
            #expect(answer["rule"] == "address.proven" && answer["now"]["rule"] == "address.proven", "\(answer.text)")
            #expect(answer["sentence"].string?.contains("No other account owned the address") == true)
            #expect(answer["now"]["addresses"].array?.map { $0["owner"].string } == [second.uid])
            // The proof removed the unproven address of the first account.
            let named = try await why(second.uid, besides: first.uid, at: server)
            #expect(named["rule"] == "address.proven", "\(named.text)")
            #expect(named["sentence"].string?.contains("no address that the other account has") == true)
        }
    }

    @Test func `a guest linked the identity, or it names no address, or the account is older`() async throws {
        try await TimelineTests.with { server, client in
            let ada = try await client.newcomer("ada")
            let guest = try await client.guest()
            #expect(try await client.link(.somebody("late"), bearer: guest.accessToken).status == 200)
            let upgraded = try await why(guest.uid, besides: ada.uid, at: server)
            #expect(upgraded["rule"] == "guest.upgrade" && upgraded["then"]["rule"] == "guest.upgrade")
            #expect(upgraded["verdict"].string == "makes the guest \(guest.uid) permanent", "\(upgraded.text)")
            let eve = try await client.newcomer("eve")
            #expect(try await why(eve.uid, besides: ada.uid, at: server)["rule"] == "identity.new")
            let older = try await why(ada.uid, besides: eve.uid, at: server)
            #expect(older["sentence"].string?.contains("older") == true, "\(older.text)")
            expectError(
                try await why(eve.uid, besides: UUID().uuidString, at: server), 404, "ACCOUNT_NOT_FOUND")
            for other in ["x", ""] {
                expectError(try await why(eve.uid, besides: other, at: server), 400, "INVALID_PARAMETER")
            }
        }
    }

    @Test func `merged accounts are one`() async throws {
        try await TimelineTests.with { server, client in
            let ada = try await client.newcomer("ada")
            let eve = try await client.newcomer("eve")
            let ticket = try await client.ticket(.somebody("eve"), bearer: ada.accessToken)
            #expect(try await client.merge(ticket, bearer: ada.accessToken).status == 200)
            let answer = try await why(ada.uid, besides: eve.uid, at: server)
            #expect(answer["sentence"].string?.contains("merged") == true && answer["remedies"] == [], "\(answer.text)")
        }
    }

    @Test func `an identity that was removed leaves the record of the audit`() async throws {
        try await TimelineTests.with { server, client in
            let ada = try await client.register(at: server)
            let second = try await newcomer(client, email: ada.email, isTrusted: false)
            let linked = try await client.link(.somebody("kept"), bearer: second.accessToken)
            #expect(linked.status == 200, "\(linked.text)")
            let removed = try await client.delete("/auth/identities/current", bearer: second.accessToken)
            #expect(removed.status == 200, "\(removed.text)")
            let answer = try await why(second.uid, besides: ada.uid, at: server)
            #expect(answer["rule"] == "address.unproven" && answer["now"].isNull, "\(answer.text)")
            #expect(answer["sentence"].string?.contains("is no authority") == true)
            // An event of a version that recorded no evidence.
            try await server.execute("UPDATE audit_events SET details = details - 'rule' - 'addresses'")
            let early = try await why(second.uid, at: server)
            #expect(early["rule"].isNull && early["then"]["rule"].isNull, "\(early.text)")
            #expect(early["sentence"].string?.contains("shows how it was created") == true)
        }
    }
}
