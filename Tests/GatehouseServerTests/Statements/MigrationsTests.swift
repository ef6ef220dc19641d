import Accounts
import Foundation
import Migrations
import Postgres
import ProviderKit
import Testing
import Tokens

@testable import GatehouseServer

/// The migrations that are compiled in match the files of the folder.
struct MigrationsTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../migrations").standardizedFileURL

    @Test func `every file is a migration, numbered from 1 without a gap`() throws {
        let files = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
            .filter { $0.hasSuffix(".sql") }.sorted()
        #expect(Migrations.all.map(\.version) == Array(1...files.count))
        for (file, migration) in zip(files, Migrations.all) {
            #expect(file.hasPrefix(String(format: "%04d_", migration.version)))
            let text = try String(contentsOf: Self.folder.appending(path: file), encoding: .utf8)
            #expect(migration.sql == text, "\(file)")
        }
    }

    /// Uses the columns that the statements of the version before migration 23 name.
    @Test func `a session that the previous version opens and refreshes is one of the API`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let (party, opaque) = (RelyingParty(server), server.backend.opaque)
            let person = try await party.api.register(at: server)
            let first = opaque.make()
            let second = opaque.successor(of: first)
            try await server.execute(
                """
                WITH session AS (
                    INSERT INTO sessions
                           (application_id, id, uid, identity_id, methods, device, address, expires_at, resumes,
                            authenticated_at, continues)
                    SELECT application_id, gen_random_uuid(), uid, identity_id, methods, 'previous', address, expires_at,
                           resumes, authenticated_at, continues
                      FROM sessions WHERE uid = $1
                    RETURNING application_id, id, expires_at
                )
                INSERT INTO refresh_tokens (application_id, hash, session_id, expires_at)
                SELECT application_id, $2, id, expires_at FROM session
                """, [.uuid(UUID(uuidString: person.uid)), .bytes(first.hash)])
            try await server.execute(
                """
                INSERT INTO refresh_tokens (application_id, hash, session_id, generation, expires_at)
                SELECT application_id, $2, session_id, generation, expires_at FROM refresh_tokens WHERE hash = $1
                """, [.bytes(first.hash), .bytes(second.hash)])
            let cookie = try await party.browser(of: person)
            #expect(
                try await party.redeem(party.code(["scope": "openid offline_access"], cookie: cookie)).status == 200)
            let bearer = try #require(try await party.api.refresh(second.text)["accessToken"].string)
            let listed = try await party.api.get("/auth/sessions", bearer: bearer)["sessions"].array ?? []
            let own = listed.first { $0["current"] == true }
            #expect(
                own?["device"] == "previous" && own?["kind"] == "api" && own?["client"] == .null
                    && own?["browser"] == .null)
            #expect(try await party.api.post("/auth/logout", ["scope": "global"], bearer: bearer).status == 204)
            #expect(try await server.liveSessions(of: person.uid) == 0)
        }
    }
}
