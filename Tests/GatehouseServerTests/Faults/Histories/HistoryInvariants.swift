import Postgres
import ProviderKit
import Testing

@testable import GatehouseServer

/// Invariants that hold while the clients of a history are paused.
struct HistoryInvariants {
    let server: TestServer
    let ledger: HistoryLedger

    /// Returns the violated invariants; normally none.
    func violations() async throws -> [String] {
        var found = ledger.entries.oddities
        for (what, offenders) in Self.rows {
            if let list = try await server.text(offenders) { found.append("\(what): \(list)") }
        }
        return try await found + AuditReplay(server).contradictions()
    }

    /// Each query returns a list of the offending rows, or null if there are none.
    private static let rows: [(String, StaticString)] = [
        (
            "an identity without an account, or of an alias",
            """
            SELECT string_agg(i.id::text, ', ')
              FROM identities i LEFT JOIN accounts a ON a.application_id = i.application_id AND a.uid = i.uid
             WHERE a.uid IS NULL OR a.absorbed_by IS NOT NULL AND NOT i.is_guest
            """
        ),
        (
            "an identity of several accounts",
            """
            SELECT string_agg(subject, ', ')
              FROM (SELECT provider || ' ' || provider_uid AS subject FROM identities
                     GROUP BY application_id, provider, provider_uid HAVING count(*) > 1) several
            """
        ),
        (
            "a verified address of an alias",
            """
            SELECT string_agg(d.address, ', ')
              FROM addresses d JOIN accounts a ON a.application_id = d.application_id AND a.uid = d.uid
             WHERE a.absorbed_by IS NOT NULL
            """
        ),
        (
            "an address that is shown as verified, and belongs to another account or to none",
            """
            SELECT string_agg(i.provider_uid || ' ' || i.email, ', ')
              FROM identities i
             WHERE i.email_verified
               AND NOT EXISTS (SELECT FROM addresses d
                                WHERE d.application_id = i.application_id AND d.kind = 'email'
                                  AND d.address = i.email AND d.uid = i.uid)
            """
        ),
        (
            "a verified address that no identity of its account shows",
            """
            SELECT string_agg(d.address || ' of ' || d.uid, ', ')
              FROM addresses d
             WHERE NOT EXISTS (SELECT FROM identities i
                                WHERE i.application_id = d.application_id AND i.uid = d.uid
                                  AND i.email = d.address AND i.email_verified)
            """
        ),
        (
            "a live account without a usable credential",
            """
            SELECT string_agg(a.uid::text, ', ')
              FROM accounts a
             WHERE a.deleted_at IS NULL AND a.absorbed_by IS NULL
               AND NOT EXISTS (SELECT FROM identities i WHERE i.application_id = a.application_id AND i.uid = a.uid)
            """
        ),
        (
            "a guest's identity beside another",
            """
            SELECT string_agg(a.uid::text, ', ')
              FROM accounts a
             WHERE a.absorbed_by IS NULL AND (
                   SELECT bool_or(is_guest) AND NOT bool_and(is_guest) FROM identities i
                    WHERE i.application_id = a.application_id AND i.uid = a.uid)
            """
        ),
        (
            "a live session of a dead account, or of an identity that is not its account's",
            """
            SELECT string_agg(s.id::text, ', ')
              FROM sessions s JOIN accounts a ON a.application_id = s.application_id AND a.uid = s.uid
             WHERE s.ended_at IS NULL
               AND (a.deleted_at IS NOT NULL OR a.absorbed_by IS NOT NULL
                    OR NOT EXISTS (SELECT FROM identities i
                                    WHERE i.application_id = s.application_id AND i.id = s.identity_id
                                      AND i.uid = s.uid))
            """
        ),
    ]

    /// Returns the access tokens that contradict their session: tokens of live sessions must be accepted, and all
    /// others refused within a second.
    func brokenTokens(in issued: ArraySlice<(token: String, session: String)>) async throws -> [String] {
        let live = try await liveSessions()
        let client = APIClient(server)
        return try await withThrowingTaskGroup(of: [String].self) { group in
            let width = 8
            for lane in 0..<width {
                group.addTask {
                    var broken: [String] = []
                    for index in stride(from: issued.startIndex + lane, to: issued.endIndex, by: width) {
                        let (token, session) = issued[index]
                        let expected = live.contains(session) ? 200 : 401
                        if try await !status(of: token, becomes: expected, client) {
                            broken.append("session \(session): \(expected) was expected")
                        }
                    }
                    return broken
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
    }

    private func status(of token: String, becomes expected: Int, _ client: APIClient) async throws -> Bool {
        let clock = ContinuousClock()
        let deadline = clock.now + .seconds(2)
        repeat {
            if try await client.get("/auth/me", bearer: token).status == expected { return true }
            try await clock.sleep(for: .milliseconds(20))
        } while clock.now < deadline
        return false
    }

    private func liveSessions() async throws -> Set<String> {
        let statement = Statement(
            .read,
            """
            SELECT s.id || ' ' || s.generation
              FROM sessions s JOIN accounts a ON a.application_id = s.application_id AND a.uid = s.uid
             WHERE s.ended_at IS NULL AND a.deleted_at IS NULL AND a.absorbed_by IS NULL
            """)
        let rows = try await server.backend.database.execute(statement, [])
        return Set(
            try rows.map { row in
                var row = row
                return try row.next(String.self)
            })
    }
}
