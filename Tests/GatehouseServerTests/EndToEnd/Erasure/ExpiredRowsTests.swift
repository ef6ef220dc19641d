import Foundation
import NIOHTTP1
import Postgres
import ProviderKit
import Testing

@testable import GatehouseServer

/// Expired rows are removed, except those that are needed to detect token theft.
struct ExpiredRowsTests {
    @Test func `expired sessions go, and ended ones after a month`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let (live, ended, old, expired) = (
                try await client.guest(), try await client.guest(), try await client.guest(), try await client.guest()
            )
            for guest in [ended, old] {
                #expect(try await client.post("/auth/logout", bearer: guest.accessToken).status == 204)
            }
            try await server.execute(
                "UPDATE sessions SET ended_at = now() - interval '31 days' WHERE uid = $1", [old.uuid])
            try await server.execute(
                "UPDATE sessions SET expires_at = now() - interval '25 hours' WHERE uid = $1", [expired.uuid])
            _ = try await server.sweep()
            for (guest, count) in [(live, 1), (ended, 1), (old, 0), (expired, 0)] {
                #expect(
                    try await server.count("SELECT count(*) FROM sessions WHERE uid = $1", [guest.uuid]) == count)
            }
            #expect(try await client.refresh(live.refreshToken).status == 200)
            expectError(try await client.refresh(expired.refreshToken), 401, "INVALID_REFRESH_TOKEN")
        }
    }

    @Test func `a refresh token is removed once no earlier one can be presented`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let guest = try await client.guest()
            let second = try #require(try await client.refresh(guest.refreshToken)["refreshToken"].string)
            _ = try await client.refresh(second)
            #expect(try await server.count("SELECT count(*) FROM refresh_tokens") == 3)
            try await server.letPass(.seconds(60))
            // The first token was issued with a longer lifetime than its successors.
            try await server.execute(
                """
                UPDATE refresh_tokens SET expires_at = now() - interval '1 second'
                 WHERE created_at > (SELECT min(created_at) FROM refresh_tokens)
                """)
            _ = try await server.sweep()
            #expect(try await server.count("SELECT count(*) FROM refresh_tokens") == 3)
            expectError(try await client.refresh(guest.refreshToken), 401, "INVALID_REFRESH_TOKEN")
            #expect(try await server.text("SELECT end_reason FROM sessions") == "refreshReused")
            try await server.execute("UPDATE refresh_tokens SET expires_at = now() - interval '1 second'")
            _ = try await server.sweep()
            #expect(try await server.count("SELECT count(*) FROM refresh_tokens") == 0)
        }
    }

    @Test func `a used proof is kept while a server whose clock is behind accepts it`() async throws {
        try await TestServer.with { server in
            try await server.execute(
                """
                INSERT INTO used_proofs (application_id, provider, hash, expires_at)
                SELECT 1, 'scripted', sha256(n::text::bytea), now() - n * interval '1 minute' FROM unnest('{9,11}'::int[]) n
                """)
            #expect(try await server.sweep() == 1)
            #expect(try await server.count("SELECT count(*) FROM used_proofs WHERE hash = sha256('9')") == 1)
        }
    }

    @Test func `a table that cannot be swept does not block the others`() async throws {
        try await TestServer.with { server in
            _ = try await APIClient(server).guest()
            try await server.execute("UPDATE sessions SET expires_at = now() - interval '25 hours'")
            try await server.execute("ALTER TABLE used_proofs RENAME TO elsewhere")
            await #expect(throws: (any Error).self) { try await server.sweep() }
            #expect(try await server.count("SELECT count(*) FROM sessions") == 0)
        }
    }

    @Test(.needsOneNode) func `sweeping reads no token that has not expired`() async throws {
        try await TestServer.with { server in
            _ = try await APIClient(server).guest()
            // Simulates months of use, after which the oldest rows share pages with the newest.
            try await server.execute(
                """
                INSERT INTO refresh_tokens (application_id, hash, session_id, created_at, expires_at)
                SELECT s.application_id, sha256(n::text::bytea), s.id,
                       now() - CASE n % 1000 WHEN 0 THEN interval '2 days' ELSE interval '0' END,
                       now() + CASE n % 1000 WHEN 0 THEN interval '-1 day' ELSE interval '1 day' END
                  FROM sessions s, generate_series(1, 50000) n
                """)
            try await server.execute("ANALYZE refresh_tokens")
            let read: StaticString = """
                SELECT (seq_tup_read + idx_tup_fetch)::int8 FROM pg_stat_user_tables WHERE relname = 'refresh_tokens'
                """
            let before = try await server.count(read)
            #expect(try await server.sweep() == 50)
            try await eventually("the database tells of it") {
                try await server.count("SELECT n_tup_del FROM pg_stat_user_tables WHERE relname = 'refresh_tokens'")
                    == 50
            }
            #expect(try await server.count(read) - before < 5000)
        }
    }

    @Test func `settled rows are removed after a month, except those of an erasure`() async throws {
        try await TestServer.with { server in
            try await server.execute(
                """
                INSERT INTO token_revocations
                       (application_id, identity_id, provider, uid, created_at, revoked_at, failed_at, is_of_erasure)
                SELECT 1, gen_random_uuid(), provider, gen_random_uuid(), now() - age, revoked_at, failed_at, is_kept
                  FROM (VALUES ('old', interval '31 days', now(), NULL, false),
                               ('failed', interval '31 days', NULL, now(), false),
                               ('kept', interval '31 days', now(), NULL, true),
                               ('new', interval '29 days', now(), NULL, false)) AS r (provider, age, revoked_at, failed_at, is_kept)
                """)
            try await server.execute(
                """
                INSERT INTO outbox (application_id, id, topic, sealed, failed_at)
                SELECT 1, gen_random_uuid(), 'x', 'x', now() - n * interval '1 day' FROM generate_series(29, 31) AS n
                """)
            _ = try await server.sweep()
            #expect(
                try await server.text("SELECT string_agg(provider, ' ' ORDER BY provider) FROM token_revocations")
                    == "kept new")
            #expect(
                try await server.count("SELECT count(*) FROM outbox WHERE failed_at < now() - interval '30 days'") == 0)
            #expect(try await server.count("SELECT count(*) FROM outbox") == 1)
        }
    }

    @Test func `a merge keeps no address longer than it can be undone`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let (survivor, absorbed) = (try await client.register(at: server), try await client.register(at: server))
            try await server.execute(
                """
                INSERT INTO merges (application_id, id, survivor, absorbed, undo_until, undone_at, identities, parked,
                                    address_kinds, addresses)
                SELECT 1, gen_random_uuid(), CASE name WHEN 'final' THEN $2 ELSE $1 END,
                       CASE name WHEN 'final' THEN $1 ELSE $2 END, now() + until, now() + undone, '{}', '{}', '{email}', ARRAY[name]
                  FROM (VALUES ('final', interval '-2 hours', NULL), ('open', interval '2 hours', NULL),
                               ('undone', interval '2 hours', interval '-1 day')) AS m (name, until, undone)
                """, [survivor.uuid, absorbed.uuid])
            _ = try await server.sweep()
            #expect(
                try await server.text("SELECT string_agg(array_to_string(addresses, ''), '') FROM merges") == "open")
            // An undone merge keeps the other account's addresses until the sweep, but the export omits them.
            try await server.execute("UPDATE merges SET addresses = '{theirs}', undone_at = now()")
            let export = try await client.get("/auth/account/export", bearer: survivor.accessToken).text
            #expect(!export.contains("theirs"))
        }
    }

    @Test func `failures are forgotten after a day`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            expectError(try await client.login(person.email, "wrong"), 401, "INVALID_CREDENTIALS")
            _ = try await server.sweep()
            #expect(try await server.count("SELECT count(*) FROM password_failures") == 1)
            try await server.age("password_failures", "failed_at", by: "25 hours")
            _ = try await server.sweep()
            #expect(try await server.count("SELECT count(*) FROM password_failures") == 0)
        }
    }
}

extension Person {
    fileprivate var uuid: Bind { .uuid(UUID(uuidString: uid)) }
}
