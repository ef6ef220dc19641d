import Accounts
import Foundation
import Postgres
import ProviderKit
import Storage
import Testing
import Tokens

@testable import GatehouseServer

/// The tables that hold data about an account, and how its export treats them.
///
/// Each new table must be listed here, either as part of the export or with the reason why it is left out.
enum ExportedTables {
    /// Tables with the sections of the export that contain their data.
    static let sections = [
        "accounts": "account", "identities": "identities", "addresses": "addresses", "passwords": "passwords",
        "provider_tokens": "providerTokens", "token_revocations": "tokenRevocations", "sessions": "sessions",
        "registrations": "pendingRegistrations", "proofs": "pendingProofs", "merges": "merges",
        "erasures": "erasures", "webhook_deliveries": "webhookDeliveries", "outbox": "messages",
        "audit_events": "auditEvents", "redirect_flows": "redirectFlows", "consents": "consents",
        "handoffs": "handoffs", "pins": "pins",
        "clients": "instances", "admin_grants": "adminGrants", "admin_notes": "adminNotes",
    ]

    static let leftOut = [
        "refresh_tokens": "hashes alone; their times are the sessions' lastSeenAt and expiresAt",
        "session_bearers": "hashes alone; their times are the sessions' lastSeenAt and expiresAt",
        "used_proofs": "hashes alone, of no account; gone minutes after the proof expires",
        "password_failures": "counts under a keyed pseudonym of what was typed; each failure is in auditEvents",
        "code_guesses": "counts under a hash; each wrong code is in auditEvents",
        "code_aliases": "ids of challenges and keyed pseudonyms of networks, gone in minutes",
        "refusals": "counts under keyed pseudonyms of clients, gone in minutes",
        "rate_limits": "counts under keyed pseudonyms of clients and targets, gone within hours",
        "statistics": "numbers by names of providers, rules and outcomes",
        "signing_keys": "the server's own keys",
        "service_keys": "keys of programs",
        "console_sessions": "hashes alone; the sessions behind them are in sessions",
        "erasure_keys": "the server's own keys",
        "identity_keys": "the server's own keys",
        "authorization_codes": "good for a minute; the session that one opened is in sessions",
        "authorization_requests": "sealed, of a browser that may have no session, gone within the hour",
        "ended_sessions": "sessions of accounts that are erased",
        "provider_switches": "modes of providers, of no account",
        "provider_plans": "modes of providers and counts, of no account",
        "provider_modes": "modes of providers, of no account",
        "switched_accounts": "a message to send, gone in seconds; it is then in messages",
    ]

    /// Columns of exported tables that the export leaves out, with the reason.
    static let leftOutColumns: [String: [String: String]] = [
        "accounts": ["audit_key": "a secret", "absorbed_by": "is the account"],
        "identities": ["uid": owner, "seen_at": "a guest's, made of lastUsedAt and sessions"],
        "addresses": ["uid": owner],
        "passwords": ["hash": "made of a secret"],
        "provider_tokens": ["sealed": "secrets"],
        "token_revocations": [
            "uid": owner, "sealed": "secrets", "id": work, "due_at": work, "leased_until": work,
            "is_of_erasure": "of an account that is gone",
        ],
        "sessions": [
            "uid": owner, "generation": "says which of its tokens are good", "renewed_at": "in auditEvents",
            "browser_hash": "made of a secret", "issuer": "the server's own URL", "idle": "a setting",
            "outlives_parent": "as expiresAt", "is_borrowed": "how the server judges methods",
            "has_lent": "tells whether others end with it; they are rows of their own", "renewal": "a setting",
            "device_mark": "a keyed pseudonym of device and user agent",
        ],
        "registrations": [
            "uid": owner, "hash": "made of a secret", "is_decoy": "would tell whether the address was taken",
        ],
        "proofs": [
            "uid": owner, "hash": "made of a secret", "password_hash": "made of a secret",
            "challenge_id": "answers with a code",
            "session_id": "in sessions", "code_hash": "made of a secret", "network": "a keyed pseudonym",
            "identity_id": "in identities", "registration_id": "in registrations",
            "invited_by": "an administrator is not named to the person",
        ],
        "admin_grants": ["uid": owner],
        "admin_notes": ["uid": owner, "sealed": "as text", "actor": "an administrator is not named to the person"],
        "merges": [:], "pins": ["hash": "made of a secret"],
        "consents": ["uid": owner],
        "handoffs": [
            "uid": owner, "hash": "made of a secret", "user_code": "made of a secret", "number": "a secret",
            "is_shown": "a property of the app", "id": "of no meaning outside", "request_hash": "made of a secret",
            "issuer": "the server's own URL", "sealed": "of the device that asks; once it is signed in, in sessions",
            "polled_at": work, "poll_interval": work,
        ],
        "clients": [
            "uid": owner, "issuer": "the server's own URL", "metadata": "of the app, the same on every device",
            "secret_hash": "made of a secret", "registration_hash": "made of a secret",
            "quota": "a keyed pseudonym of a network", "slot": "counts registrations", "expires_at": "a setting",
            "logout_lane": "of clients without an owner", "last_used_at": "in sessions",
            "deleted_at": "the row is gone minutes later",
        ],
        "erasures": [
            "uid": owner, "look_again_at": work, "certificate": "of an account that is gone",
            "session_id": "in sessions, as the one that a restored session continues",
        ],
        "redirect_flows": [
            "state_hash": "made of a secret", "code_hash": "made of a secret", "browser_hash": "made of a secret",
            "code_challenge": "made of a secret", "app_state": "a secret of the app",
            "marks": "of the evidence, under a key of the server's",
            "sealed_evidence": "as holdsEvidence: whose it is, is decided when the app redeems it",
        ],
        "webhook_deliveries": [
            "uid": owner, "webhook": "may hold a secret in its path", "due_at": work, "leased_until": work,
            "requeued_at": work,
        ],
        "outbox": [
            "uid": owner, "sealed": "one-time secrets", "recipient": "a mark under a key of the server's",
            "due_at": work, "counted_at": work, "leased_until": work, "requeued_at": work,
        ],
        "audit_events": [
            "account": "the pseudonym", "batch": "its place in the chain", "session_id": "as session",
            "inserted_at": "at, by the clock that the audit is watched by",
        ],
    ]
    private static let owner = "the account, or one that it has absorbed"
    private static let work = "when a worker looks at it"

    /// Returns the columns by table, without the application's number.
    static func columns(of table: String, at server: TestServer) async throws -> Set<String> {
        let rows = try await server.backend.database.execute(
            Statement(
                .read,
                """
                SELECT column_name::text FROM information_schema.columns
                 WHERE table_schema = 'public' AND table_name = $1 AND column_name <> 'application_id'
                """), [.text(table)])
        return Set(
            try rows.map { row in
                var row = row
                return try row.next(String.self)
            })
    }

    /// Columns that link a row to an account or an application.
    private static let columns = [
        "application_id", "uid", "account", "absorbed_by", "survivor", "absorbed", "successor_uid", "identity_id",
        "session_id", "linking_session", "registration_id",
    ]

    /// Returns the existing tables that have such columns, without partitions and views.
    static func all(at server: TestServer) async throws -> Set<String> {
        let rows = try await server.backend.database.execute(
            Statement(
                .read,
                """
                SELECT DISTINCT c.table_name::text
                  FROM information_schema.columns c
                  JOIN pg_class t ON t.oid = format('%I.%I', c.table_schema, c.table_name)::regclass
                 WHERE c.table_schema = 'public' AND c.column_name = ANY ($1) AND t.relkind IN ('r', 'p')
                   AND NOT t.relispartition
                """), [.texts(columns)])
        return Set(
            try rows.map { row in
                var row = row
                return try row.next(String.self)
            })
    }
}

/// Inserts one row about an account into each exported table, and knows which of its values the export must contain.
struct ExportSeed {
    let uid: UUID
    let identity = UUID()
    let session = UUID()
    let alias = UUID()
    private let mark = UUID().uuidString.lowercased().prefix(8)

    /// Returns a text that occurs nowhere else in the export.
    func marker(_ table: String) -> String { "\(table)-\(mark)" }

    /// A value that the export must not contain, neither as text nor in hexadecimal.
    let secret = Array("never to be told! never to be to".utf8)

    func plant(at server: TestServer) async throws {
        let application = try await server.application().id
        func run(_ sql: StaticString, _ binds: Bind...) async throws {
            try await server.execute(sql, [.application(application)] + binds)
        }
        try await run(
            "UPDATE accounts SET display_name = $3, metadata = '{\"some_key\":1}' WHERE application_id = $1 AND uid = $2",
            .uuid(uid), .text(marker("accounts")))
        try await run(
            "INSERT INTO accounts (application_id, uid, audit_key, absorbed_by, display_name) VALUES ($1, $2, $3, $4, 'the absorbed one')",
            .uuid(alias), .bytes(secret), .uuid(uid))
        try await run(
            "INSERT INTO identities (application_id, id, uid, provider, provider_uid, profile) VALUES ($1, $2, $3, 'scripted', $4, '{\"given_name\":\"Ada\"}')",
            .uuid(identity), .uuid(uid), .text(marker("identities")))
        try await run(
            "INSERT INTO addresses (application_id, kind, address, uid) VALUES ($1, 'email', $3, $2)",
            .uuid(uid), .text(marker("addresses") + "@example.com"))
        try await run(
            "INSERT INTO passwords (application_id, identity_id, hash) VALUES ($1, $2, $3)",
            .uuid(identity), .text(String(decoding: secret, as: UTF8.self)))
        try await run(
            "INSERT INTO provider_tokens (application_id, identity_id, sealed) VALUES ($1, $2, $3)",
            .uuid(identity), .bytes(secret))
        try await run(
            "INSERT INTO token_revocations (application_id, identity_id, provider, uid, sealed) VALUES ($1, gen_random_uuid(), $3, $2, $4)",
            .uuid(uid), .text(marker("token_revocations")), .bytes(secret))
        try await run(
            "INSERT INTO sessions (application_id, id, uid, identity_id, methods, device, expires_at) VALUES ($1, $2, $3, $4, '{pwd}', $5, now() + interval '1 day')",
            .uuid(session), .uuid(uid), .uuid(identity), .text(marker("sessions")))
        try await run(
            "INSERT INTO refresh_tokens (application_id, hash, session_id, expires_at) VALUES ($1, $2, $3, now() + interval '1 day')",
            .bytes(secret), .uuid(session))
        try await run(
            "INSERT INTO registrations (application_id, provider, provider_uid, id, address, hash, is_decoy, expires_at, uid) VALUES ($1, 'email', $3, gen_random_uuid(), $3, $4, false, now() + interval '1 day', $2)",
            .uuid(uid), .text(marker("registrations")), .text(String(decoding: secret, as: UTF8.self)))
        try await run(
            "INSERT INTO proofs (application_id, kind, hash, provider, provider_uid, uid, methods, expires_at) VALUES ($1, 'restore', $3, 'scripted', $4, $2, '{}', now() + interval '1 day')",
            .uuid(uid), .bytes(secret), .text(marker("proofs")))
        try await run(
            "INSERT INTO merges (application_id, id, survivor, absorbed, undo_until, identities, parked, address_kinds, addresses) VALUES ($1, gen_random_uuid(), $2, $3, now(), '{}', '{}', '{email}', ARRAY[$4])",
            .uuid(uid), .uuid(alias), .text(marker("merges")))
        try await run(
            "INSERT INTO erasures (application_id, receipt, uid, purge_after, restored_at) VALUES ($1, gen_random_uuid(), $2, '2031-02-03T04:05:06Z', now())",
            .uuid(uid))
        try await run(
            "INSERT INTO webhook_deliveries (application_id, event_id, webhook, name, kind, uid) VALUES ($1, gen_random_uuid(), 'https://hooks.example/never', $3, 'account.created', $2)",
            .uuid(alias), .text(marker("webhook_deliveries")))
        try await run(
            "INSERT INTO outbox (application_id, id, topic, sealed, uid, failed_at) VALUES ($1, gen_random_uuid(), $3, $4, $2, now())",
            .uuid(uid), .text(marker("outbox")), .bytes(secret))
        try await run(
            "INSERT INTO redirect_flows (application_id, state_hash, provider, redirect_uri, app_state, linking_session, answered_at, sealed_evidence, code_hash, expires_at) VALUES ($1, $2, $3, 'demo://flow', $5, $4, now(), $2, $2, now() + interval '1 minute')",
            .bytes(Array(secret.prefix(32))), .text(marker("redirect_flows")), .uuid(session),
            .text(String(decoding: secret, as: UTF8.self)))
        try await run(
            "INSERT INTO consents (application_id, uid, client_id, scopes, resources) VALUES ($1, $2, $3, '{openid}', '{}')",
            .uuid(uid), .text(marker("consents")))
        try await run(
            "INSERT INTO handoffs (application_id, hash, kind, id, client_id, issuer, request_hash, state, uid, session_id, sealed, expires_at) VALUES ($1, $2, 'qr', gen_random_uuid(), $3, 'https://never.example', $2, 'confirmed', $4, $5, $2, now())",
            .bytes(Array(secret.prefix(32))), .text(marker("handoffs")), .uuid(uid), .uuid(session))
        try await run(
            "INSERT INTO clients (application_id, client_id, issuer, metadata, registration_hash, software, device_type, uid, session_id, expires_at) VALUES ($1, $3, 'https://a.example', '{}', $5, 'app', 'iphone', $2, $4, now() + interval '1 day')",
            .uuid(uid), .text(marker("clients")), .uuid(session), .bytes(Array(secret.prefix(32))))
        try await run(
            "INSERT INTO pins (application_id, uid, hash) VALUES ($1, $2, $3)",
            .uuid(uid), .text(String(decoding: secret, as: UTF8.self)))
        try await run(
            "INSERT INTO admin_grants (application_id, uid, granted_on, role, identities) VALUES ($1, $2, $1, $3, ARRAY[$4])",
            .uuid(uid), .text(marker("admin_grants")), .uuid(identity))
        let note = UUID()
        let sealed = try server.backend.sealer.seal(
            Array(marker("admin_notes").utf8), at: .note(application: application, id: note))
        try await run(
            "INSERT INTO admin_notes (application_id, id, uid, sealed, actor) VALUES ($1, $3, $2, $4, '{\"key\":\"abcd\"}')",
            .uuid(alias), .uuid(note), .bytes(sealed))
        try await run(
            "INSERT INTO audit_events (application_id, event, account) SELECT $1, $3, sha256(audit_key || uuid_send(uid)) FROM accounts WHERE uid = $2",
            .uuid(uid), .text(marker("audit_events")))
    }

    /// Returns the expected content of a table's section.
    func expected(of table: String) -> String {
        switch table {
        case "erasures": "2031-02-03T04:05:06.000Z"
        case "pins": uid.uuidString.lowercased()
        case "passwords", "provider_tokens": identity.uuidString.lowercased()
        default: marker(table)
        }
    }
}
