import Accounts
import Administration
import Foundation
import NIOHTTP1
import Postgres
import ProviderKit
import Storage
import Testing
import Tokens

@testable import GatehouseServer

/// A person with a row in every table that has personal data.
///
/// Each new table must be listed here, either with the trace that is created in it or in `staying`.
struct ErasedTraces: Sendable {
    /// Data that may remain after an erasure, with the reason.
    static let staying = [
        "applications": "no person's", "service_keys": "no person's",
        "root_key": "no person's", "signing_keys": "no person's",
        "erasure_keys": "no person's", "identity_keys": "no person's",
        "gatehouse_migrations": "no person's",
        "provider_modes": "no person's", "provider_switches": "no person's", "provider_plans": "no person's",
        "audit_partitions": "no person's",
        "switched_accounts": "uid, until a message is sent moments later; they go with the account",
        "audit_batches": "digests of events alone", "text_budget": "counts of ranges of numbers",
        "used_proofs": "hashes of proofs alone, until minutes after these expire",
        "audit_events": "of the account whose key is erased", "erasures": "uid, times, receipt, certificate",
        "ended_sessions": "ids, until the last access token has expired",
        "webhook_deliveries": "uid, and who was told of what when", "token_revocations": "uid, and who took them back",
        "outbox": "topic and time of what had been sent before there was an account",
        "statistics": "numbers by names of providers, rules and outcomes",
        "rate_limits": "clients' networks by keyed pseudonyms, for hours",
        "code_aliases": "clients' networks by keyed pseudonyms, for ten minutes",
        "refusals": "clients' networks by keyed pseudonyms, until the minute is over",
    ]

    let id = UUID().uuidString.prefix(8).lowercased()

    var subject: String { "subject-\(id)" }
    var otherSubject: String { "absorbed-\(id)" }
    var phone: String { "+33612345678" }
    var name: String { "Lovelace-\(id)" }
    var city: String { "Marylebone-\(id)" }
    var claim: String { "Subscriber-\(id)" }
    var device: String { "Handset-\(id)" }
    var newAddress: String { "later-\(id)@example.com" }
    var unprovenAddress: String { "unproven-\(id)@example.com" }
    /// The address of a code that was requested with a bearer and never entered.
    var askedAddress: String { "asked-\(id)@example.com" }

    /// Strings that a dump contains before the erasure and not afterwards.
    func markers(of person: Person) -> [String] {
        [
            person.email, subject, otherSubject, phone, name, city, claim, device, newAddress, unprovenAddress,
            askedAddress,
        ]
    }

    static let application = "redirectURIs: [\"demo://oauth/callback\"]\n" + BlitzApp.everything

    /// - Returns: the person with their newest session.
    func leave(at server: TestServer) async throws -> Person {
        let client = APIClient(server)
        let registered = try await client.register(at: server)
        let login = try await client.post(
            "/auth/login", ["email": .string(registered.email), "password": .string(registered.password)],
            headers: ["x-device-name": device])
        var person = try Person(login, email: registered.email, password: registered.password)
        _ = try await client.patch(
            "/auth/me", ["displayName": .string("Ada \(name)"), "metadata": ["city": .string(city)]],
            bearer: person.accessToken)
        try await server.setAccess(claims: ["number": .string(claim)], of: person.uid)
        let linked = try await client.link(
            .somebody(subject, email: unprovenAddress, isVerified: false).holding("token-\(id)"),
            bearer: person.accessToken)
        try #require(linked.status == 200, "\(linked.text)")
        let code = try await client.challenge("phone", phone, at: server, bearer: person.accessToken)
        let number = try await client.post("/auth/identities/phone", .object(code), bearer: person.accessToken)
        try #require(number.status == 200, "\(number.text)")
        // Creates the second account later, because a merge keeps the older one.
        _ = try await client.newcomer(otherSubject)
        let ticket = try await client.ticket(.somebody(otherSubject), bearer: person.accessToken)
        let merged = try await client.merge(ticket, bearer: person.accessToken, survivor: "current")
        person = try Person(merged, email: person.email, password: person.password)
        try await redirect(person, client)
        try await useClient(person, at: server)
        try await leavePending(person, client, at: server)
        return person
    }

    /// Leaves three flows: one that was redeemed, one with evidence that was not redeemed, and one to link that has
    /// just begun.
    private func redirect(_ person: Person, _ client: APIClient) async throws {
        let redirect = RedirectClient(api: client)
        let answer = try await redirect.signIn(.somebody(subject))
        try #require(answer.status == 200 && answer["user"]["id"].string == person.uid, "\(answer.text)")
        _ = try await redirect.arrive(redirect.begin(), with: .somebody(subject))
        _ = try await redirect.arrive(redirect.begin(), with: .somebody("new-\(id)", email: person.email))
        let linking = try await client.post(
            "/auth/identities/scripted/authorize",
            [
                "redirect_uri": .string(redirect.redirectURI),
                "code_challenge": .string(CodeChallenge.s256(of: redirect.verifier)),
            ], bearer: person.accessToken)
        try #require(linking.status == 200, "\(linking.text)")
    }

    /// Leaves a consent, a code that an OpenID client has not redeemed, and three requests: one that names the person,
    /// one that waits for the code that was sent to them, and one that waits for their consent; an app's installation on
    /// which the person has signed in; and a device that they have allowed.
    private func useClient(_ person: Person, at server: TestServer) async throws {
        let (party, spa) = (RelyingParty(server), RelyingParty.public(server))
        try await party.consent(of: person)
        _ = try await party.code(cookie: party.browser(of: person))
        var browser = PageBrowser(server)
        _ = try await browser.begin(party, ["login_hint": person.email.uppercased()])
        let asked = try await browser.submit("code", ["identifier": person.email], of: browser.begin(party))
        try #require(asked.step == "code", "\(asked.text)")
        let consent = try await browser.signIn(person, at: browser.begin(spa))
        try #require(consent.step == "consent", "\(consent.text)")
        _ = try await BlitzApp(server).signIn(person)
        // The app's request ended right after the sign-in, so that it names no person; it is removed an hour later.
        try await server.execute("DELETE FROM authorization_requests WHERE client_id LIKE 'dyn~%' AND marks IS NULL")
        try await server.execute(
            """
            INSERT INTO session_bearers (application_id, hash, session_id, idle, idle_until, expires_at)
            SELECT application_id, sha256(uuid_send(id)), id, '1 day', expires_at, expires_at FROM sessions
             WHERE kind = 'api' LIMIT 1
            """)
        try await server.execute(
            "INSERT INTO pins (application_id, uid, hash) SELECT application_id, uid, 'x' FROM accounts LIMIT 1")
        try await administer(person, at: server)
        var allowing = PageBrowser(server)
        try await allowing.allow(Device(server), as: person)
    }

    /// Leaves a role, a note of an administrator, and a session at the console.
    private func administer(_ person: Person, at server: TestServer) async throws {
        let (uid, application) = (try #require(UUID(uuidString: person.uid)), try await server.application())
        try await AdminGrants(store: server.backend.store, home: application)
            .grant(.auditor, to: uid, on: application, by: TestServer.operations)
        let act = AdministrativeAct(by: .key("abcd"), because: .init(.support, ticket: "T-1"), note: name)
        _ = try await server.acts.beginExport(of: uid, by: act, in: application)
        let sessions = ConsoleSessions(
            store: server.backend.store, sealing: server.backend.sealer, opaque: server.backend.opaque)
        let rules = ConsoleSessionRules(
            idle: .seconds(1800), lifetime: .seconds(3600), stepUp: .seconds(300), requiredMethods: [])
        let session = try await server.text("SELECT max(id::text) FROM sessions WHERE uid = $1", [.uuid(uid)])
        _ = try await sessions.open(
            try #require(session.flatMap(UUID.init)), of: uid, keeping: nil, rules: rules, home: application)
    }

    /// Leaves counters, unsent messages and pending requests about the person's addresses.
    private func leavePending(_ person: Person, _ client: APIClient, at server: TestServer) async throws {
        expectError(try await client.login(person.email, "wrong"), 401, "INVALID_CREDENTIALS")
        let asked = try await client.post("/auth/email/otp", ["email": .string(person.email)])
        _ = try await client.post(
            "/auth/email/otp/verify", ["challengeId": asked["challengeId"], "code": "000000"])
        _ = try await client.post("/auth/forgot-password", ["email": .string(person.email)])
        _ = try await client.post(
            "/auth/register", ["email": .string(person.email), "password": .string(APIClient.otherPassword)])
        let identity = try await client.identityID(of: "email", bearer: person.accessToken)
        let change = try await client.post(
            "/auth/identities/\(identity)/address", ["email": .string(newAddress)], bearer: person.accessToken)
        try #require(change.status == 202, "\(change.text)")
        let code = try await client.post(
            "/auth/email/otp", ["email": .string(askedAddress)], bearer: person.accessToken)
        try #require(code.status == 202, "\(code.text)")
        // Causes a refusal in the audit that contains the session's id.
        let foreign = try await client.reauthenticate(.somebody(), bearer: person.accessToken)
        try #require(foreign.status == 401, "\(foreign.text)")
        try await eventually("everything is sent") {
            try await server.count("SELECT count(*) FROM outbox WHERE sent_at IS NULL") == 0
        }
        // Inserts messages that no relay accepted: one to an address of the person and one to a former address.
        let application = try await server.application().id
        for (uid, address) in [(nil, person.email), (person.uid, "former@example.com")] {
            try await server.execute(
                """
                INSERT INTO outbox (application_id, id, topic, sealed, recipient, uid, failed_at)
                VALUES ($1, gen_random_uuid(), 'passwordChanged', 'x', $2, $3, now())
                """,
                [
                    .application(application), .bytes(server.backend.sealer.mark(of: address)),
                    .uuid(uid.flatMap { UUID(uuidString: $0) }),
                ])
        }
    }
}

extension TestServer {
    /// Returns the number of rows of each table, with partitions counted together.
    func rowsByTable() async throws -> [String: Int] {
        let names = try await backend.database.execute(
            Statement(
                .read,
                """
                SELECT relname::text FROM pg_class
                 WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
                """)
        ).map { row in
            var row = row
            return try row.next(String.self)
        }
        var counts: [String: Int] = [:]
        for name in names { counts[name] = try await rows(of: name) }
        return counts
    }
}
