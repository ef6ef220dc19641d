import Foundation
import GatehouseTesting
import Migrations
import NIOHTTP1
import Postgres
import ProviderKit
import Synchronization
import Testing

@testable import GatehouseServer

/// A server is killed at a step of its background work, and another start completes the work.
@Suite(.serialized) struct KilledServerTests {
    /// A step of the deletion of an account, by a trigger that delays it until the server has been killed.
    enum Step: String, CaseIterable {
        case eventTaken = "AFTER UPDATE ON webhook_deliveries FOR EACH ROW WHEN (new.acknowledged_at IS NULL)"
        case eventMarked = "AFTER UPDATE ON webhook_deliveries FOR EACH ROW WHEN (new.acknowledged_at IS NOT NULL)"
        case revocationTaken = "AFTER UPDATE ON token_revocations FOR EACH ROW WHEN (new.revoked_at IS NULL)"
        case revocationMarked = "AFTER UPDATE ON token_revocations FOR EACH ROW WHEN (new.revoked_at IS NOT NULL)"
        case erasureBegun =
            "AFTER UPDATE ON erasures FOR EACH ROW WHEN (old.began_at IS NULL AND new.began_at IS NOT NULL)"
        case accountRemoved = "AFTER DELETE ON accounts FOR EACH ROW"
        /// The ledger has its line, and the transaction is about to be committed.
        case erasureCommitted =
            "AFTER UPDATE ON erasures DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (new.erased_at IS NOT NULL)"

        var trigger: String {
            let kind = self == .erasureCommitted ? "CONSTRAINT TRIGGER" : "TRIGGER"
            return "CREATE \(kind) hold \(rawValue) EXECUTE FUNCTION hold()"
        }
    }

    private static let function = """
        CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN PERFORM pg_advisory_xact_lock_shared(4711); RETURN NULL; END $$
        """
    private static let lock = Statement(.write, "SELECT pg_advisory_xact_lock(4711)")
    private static let waiting = Statement(
        .read, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = 4711 AND NOT granted")
    private static let endWaiting = Statement(
        .write,
        """
        SELECT count(pg_terminate_backend(pid)) FROM pg_locks
         WHERE locktype = 'advisory' AND objid = 4711 AND NOT granted
        """)
    /// Lets the leases of the killed server expire.
    private static let expireLeases = """
        UPDATE outbox SET due_at = now() WHERE sent_at IS NULL;
        UPDATE webhook_deliveries SET due_at = now(), leased_until = NULL WHERE acknowledged_at IS NULL;
        UPDATE token_revocations SET due_at = now(), leased_until = NULL WHERE revoked_at IS NULL;
        UPDATE erasures SET look_again_at = now() WHERE erased_at IS NULL;
        """

    @Test(.needsOneNode, arguments: Step.allCases)
    func `a deletion that a kill interrupts is completed and announced to everyone`(step: Step) async throws {
        let url = try await TemporaryPostgres.database(migrations: Migrations.all)
        try await UpstreamServer.with { upstream in
            try await WebhookSink.with { hook in
                try await ProcessDirectory.with { directory in
                    let apple = try AppleAccount(upstream)
                    var file = ServerFile(database: url)
                    file.providers = apple.entry
                    file.delivery = """
                        deletion: { gracePeriod: 0s, ledger: '\(directory.path("ledger"))' }
                        webhooks: [\(hook.entry("account.deleted", "account.erased"))]
                        """
                    let (person, receipt) = try await file.serve(in: directory) { process, client in
                        try await killed(process, at: step, deleting: apple, by: client, url)
                    }
                    try Database.runAlone(Self.expireLeases, url: url)
                    try await file.serve(in: directory) { _, client in
                        try await eventually("the account is erased", within: .seconds(30)) {
                            try await client.erasure(receipt)["status"] == "erased"
                        }
                        try await eventually("the deletion is announced") {
                            hook.posts(of: "account.deleted").count > 0 && hook.posts(of: "account.erased").count > 0
                        }
                        expectError(try await client.get("/auth/me", bearer: person.accessToken), 401, "INVALID_TOKEN")
                    }
                    for kind in ["account.deleted", "account.erased"] {
                        #expect(Set(hook.posts(of: kind).map(\.id)).count == 1, "\(kind) is one event")
                    }
                    #expect(apple.revokedTokens == ["r-001"])
                    let lines = try String(contentsOfFile: directory.path("ledger"), encoding: .utf8)
                    #expect(lines.contains(person.uid))
                }
            }
        }
    }

    /// Deletes an account, and kills the server when it reaches the step.
    private func killed(
        _ process: GatehouseProcess, at step: Step, deleting apple: AppleAccount, by client: APIClient, _ url: String
    ) async throws -> (Person, receipt: String) {
        let person = try await apple.signIn(by: client)
        for sql in [Self.function, step.trigger] { try Database.runAlone(sql, url: url) }
        var configuration = Database.Configuration(url: url)
        configuration.transactionIdleTimeout = .seconds(60)
        let database = Database(configuration, logger: TestServer.silence)
        database.start()
        let receipt = try await database.transaction { transaction in
            _ = try await transaction.execute(Self.lock, [])
            let receipt = try await client.deleteAccount(person)
            try await eventually("the server reaches the step", within: .seconds(30)) {
                try await database.count(Self.waiting) > 0
            }
            #expect(try await process.end(by: SIGKILL) == -SIGKILL)
            // Otherwise PostgreSQL would notice the loss of its client only after the step.
            _ = try await database.execute(Self.endWaiting, [])
            return receipt
        }
        await database.stop()
        return (person, receipt)
    }

    @Test(arguments: ["CONNECT", "EHLO", "MAIL", "RCPT", "DATA", ".", "QUIT"])
    func `mails that a kill interrupts are sent again`(event: String) async throws {
        let isHolding = Mutex(true)
        let sink = try SMTPSink { current in
            isHolding.withLock { $0 } && current.hasPrefix(event) ? .hang : nil
        }
        defer { sink.close() }
        let url = try await TemporaryPostgres.database(migrations: Migrations.all)
        var file = ServerFile(database: url)
        file.delivery = "delivery: { email: { from: 'no-reply@demo.example', smtp: 'smtp://127.0.0.1:\(sink.port)' } }"
        let addresses = (1...3).map { _ in APIClient.newAddress() }
        try await ProcessDirectory.with { directory in
            try await file.serve(in: directory) { process, client in
                for address in addresses {
                    let asked = try await client.post("/auth/email/otp", ["email": .string(address)])
                    try #require(asked.status == 202, "\(asked.text)")
                }
                try await eventually("the mails are on their way") { sink.hanging == addresses.count }
                #expect(try await process.end(by: SIGKILL) == -SIGKILL)
            }
            isHolding.withLock { $0 = false }
            try Database.runAlone(Self.expireLeases, url: url)
            try await file.serve(in: directory) { _, _ -> Void in
                // At the dot, each mail has arrived once without being acknowledged.
                let copies = event == "." ? 2 : 1
                try await eventually("every mail is sent") {
                    addresses.allSatisfy { address in
                        sink.taken.count { $0.recipient == address } >= copies
                    }
                }
            }
        }
        let mails = Dictionary(grouping: sink.taken) { $0.field("Message-ID") ?? "" }
        #expect(mails.count == addresses.count && mails.values.allSatisfy { $0.count <= 2 })
    }
}

/// A person with an Apple identity whose tokens the server revokes after a deletion.
private struct AppleAccount {
    let entry: String
    private let upstream: UpstreamServer
    private let token: String

    init(_ upstream: UpstreamServer) throws {
        let (authority, developer) = (try TestAuthority(.rs256), try TestAuthority(.es256))
        let now = Int64(Date().timeIntervalSince1970)
        let token = try authority.token([
            "iss": .string(upstream.url), "aud": "net.example.app", "sub": "001", "iat": .integer(now),
            "exp": .integer(now + 600),
        ])
        upstream.service.answer(upstream.url + "/auth/keys") { _ in .json(authority.keySet) }
        upstream.service.answer(upstream.url + "/auth/token") { _ in
            .json(["refresh_token": "r-001", "id_token": .string(token)])
        }
        upstream.service.answer(upstream.url + "/auth/revoke") { _ in .json([:]) }
        let key = developer.privateKeyPEM.replacing("\n", with: "\\n")
        entry = """
            apple: { clientIDs: [net.example.app], teamID: TEAM, keyID: KEY, privateKey: "\(key)", \
            baseURL: "\(upstream.url)" }
            """
        self.upstream = upstream
        self.token = token
    }

    func signIn(by client: APIClient) async throws -> Person {
        let answer = try await client.post(
            "/auth/apple", ["identityToken": .string(token), "authorizationCode": "code"])
        return try Person(answer, email: "", password: "")
    }

    var revokedTokens: Set<String> {
        Set(upstream.service.requests.filter { $0.url.hasSuffix("/auth/revoke") }.compactMap { $0.form?["token"] })
    }
}

extension Database {
    fileprivate func count(_ statement: Statement) async throws -> Int {
        var row = try #require(try await execute(statement, []).first)
        return try row.next()
    }
}
