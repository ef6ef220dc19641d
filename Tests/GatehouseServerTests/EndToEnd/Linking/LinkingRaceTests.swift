import Accounts
import Foundation
import Postgres
import ProviderKit
import Testing

@testable import GatehouseServer

/// Links that are decided before another change of the account and written after it.
struct LinkingRaceTests {
    private static let lockAccount = Statement(.write, "SELECT uid FROM accounts WHERE uid = $1 FOR UPDATE")
    /// What a password reset does to identities that were linked shortly before.
    private static let quarantine = Statement(
        .write, "UPDATE identities SET quarantined_at = now() WHERE uid = $1 AND provider = 'scripted'")

    @Test(.needsOneNode, arguments: [false, true])
    func `a link that a password reset overtakes gets no ticket or restore token`(isDeleted: Bool) async throws {
        try await TestServer.linking { server, client in
            let (person, _) = try await client.victim(at: server, of: "ada")
            let eve = try await client.newcomer("eve")
            if isDeleted { try await client.deleteAccount(person) }
            let uid = Bind.uuid(UUID(uuidString: person.uid))
            let link = try await server.backend.database.transaction { transaction in
                _ = try await transaction.execute(Self.lockAccount, uid)
                let link = Task { try await client.link(.somebody("ada"), bearer: eve.accessToken) }
                try await eventually("the link has decided, and waits for the account or has answered") {
                    try await server.count(
                        """
                        SELECT (SELECT count(*) FROM pg_stat_activity
                                 WHERE datname = current_database() AND wait_event_type = 'Lock')
                             + (SELECT count(*) FROM proofs WHERE kind IN ('merge', 'restore'))
                        """) > 0
                }
                _ = try await transaction.execute(Self.quarantine, uid)
                return link
            }
            try expectQuarantined(try await link.value)
            #expect(try await server.count("SELECT count(*) FROM proofs WHERE kind IN ('merge', 'restore')") == 0)
        }
    }

    /// A change of the account that is committed while a link waits for it, and the link's answer.
    struct Change: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let statement: Statement
        let status: Int
        var code: String?
    }

    private static let anotherAccount: StaticString = """
        WITH account AS (
            INSERT INTO accounts (application_id, uid, audit_key) SELECT 1, gen_random_uuid(), sha256(uuid_send($1))
            RETURNING uid
        )
        """

    static let changes = [
        Change(
            testDescription: "the session ends",
            statement: Statement(
                .write,
                """
                UPDATE sessions SET ended_at = now(), end_reason = 'passwordReset'
                 WHERE application_id = 1 AND uid = $1
                """), status: 401, code: "INVALID_TOKEN"),
        Change(
            testDescription: "the session expires",
            statement: Statement(
                .write, "UPDATE sessions SET expires_at = now() WHERE application_id = 1 AND uid = $1"),
            status: 401, code: "INVALID_TOKEN"),
        Change(
            testDescription: "the account is disabled",
            statement: Statement(
                .write, "UPDATE accounts SET disabled_at = now() WHERE application_id = 1 AND uid = $1"),
            status: 401, code: "INVALID_TOKEN"),
        Change(
            testDescription: "another identity is added",
            statement: Statement(
                .write,
                """
                INSERT INTO identities (application_id, id, uid, provider, provider_uid)
                VALUES (1, gen_random_uuid(), $1, 'scripted', 'another')
                """), status: 409, code: "LIMIT_REACHED"),
        Change(
            testDescription: "another account gets the identity",
            statement: Statement(
                .write, anotherAccount,
                """
                INSERT INTO identities (application_id, id, uid, provider, provider_uid)
                SELECT 1, gen_random_uuid(), uid, 'scripted', 'eve' FROM account
                """), status: 409, code: "IDENTITY_IN_USE"),
        Change(
            testDescription: "another account gets the address",
            statement: Statement(
                .write, anotherAccount,
                """
                INSERT INTO addresses (application_id, kind, address, uid)
                SELECT 1, 'email', 'eve@example.com', uid FROM account
                """), status: 200),
        Change(
            testDescription: "it becomes a guest's account",
            statement: Statement(
                .write, "UPDATE identities SET is_guest = true WHERE application_id = 1 AND uid = $1"), status: 200),
    ]

    @Test(arguments: changes) func `a link notices what changes while it waits for the account`(change: Change)
        async throws
    {
        try await TestServer.linking(application: "linking: { maximumIdentities: 2 }") { server, client in
            let person = try await client.newcomer("ada")
            let eve = VerifiedIdentity.somebody("eve", email: "eve@example.com")
            let answer = try await server.change(person, by: [(change.statement, [])]) {
                try await client.link(eve, bearer: person.accessToken)
            }
            if let code = change.code { expectError(answer, change.status, code) }
            #expect(answer.status == change.status, "\(answer.text)")
            #expect(
                try await server.count(
                    "SELECT count(*) FROM identities WHERE provider_uid = 'eve' AND uid = $1",
                    [.uuid(UUID(uuidString: person.uid))])
                    == (change.code == nil ? 1 : 0))
            // A guest's first link replaces the guest identity.
            #expect(try await server.count("SELECT count(*) FROM identities WHERE is_guest") == 0)
        }
    }

    @Test func `evidence that was used before consumes the code of its flow, and links nothing`() async throws {
        try await TestServer.linking(application: "redirectURIs: [\"demo://oauth/callback\"]") { server, client in
            let redirect = RedirectClient(api: client)
            let person = try await client.register(at: server)
            var once = VerifiedIdentity.somebody("ada", email: APIClient.newAddress())
            once.singleUse = SingleUse(id: "once", expires: Date() + 600)
            #expect(try await client.present(once).status == 200)
            // With another subject, nothing but the repeated id refuses the evidence.
            once.providerUid = "eve"
            for use in ["link", "sign-in"] {
                let flow = try await use == "link" ? redirect.beginLink(person.accessToken) : redirect.begin()
                let code = try await redirect.arrive(flow, with: once).query("code")
                for attempt in ["first", "second"] {
                    let body: JSONValue = [
                        "code": .string(code ?? ""), "redirect_uri": .string(redirect.redirectURI),
                        "codeVerifier": .string(redirect.verifier),
                    ]
                    let refused =
                        use == "link"
                        ? try await client.post("/auth/identities/scripted", body, bearer: person.accessToken)
                        : try await redirect.redeem(code)
                    expectError(refused, 401, "INVALID_TOKEN", "\(use), \(attempt) attempt")
                    #expect(
                        try await server.count(
                            "SELECT count(*) FROM redirect_flows WHERE redeemed_at IS NULL") == 0, "\(use)")
                }
            }
            #expect(try await server.count("SELECT count(*) FROM identities WHERE provider_uid = 'eve'") == 0)
            #expect(try await client.identities(bearer: person.accessToken).count == 1)
        }
    }
}

extension RedirectClient {
    /// Begins a flow that links an identity.
    fileprivate func beginLink(_ bearer: String) async throws -> Flow {
        let answer = try await api.post(
            "/auth/identities/scripted/authorize",
            [
                "redirect_uri": .string(redirectURI),
                "code_challenge": .string(CodeChallenge.s256(of: verifier)),
            ], bearer: bearer)
        let url = try #require(answer["url"].string.flatMap { URLComponents(string: $0) }, "\(answer.text)")
        return Flow(authorization: answer, url: url, cookie: nil)
    }
}
