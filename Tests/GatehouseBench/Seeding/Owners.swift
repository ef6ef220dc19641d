import Accounts
import Foundation
import Postgres
import ProviderKit
import Storage
import Synchronization

/// Accounts for the rows about linking; their ids follow from their numbers, so that pgbench can name them too.
///
/// Each has a session, an e-mail identity and further identities of the provider `loopback`.
struct Owners: Sendable {
    let numbers: ClosedRange<Int64>
    let accessTokens: [String]

    private static let lastNumber = Mutex<Int64>(0)

    static func newNumbers(_ count: Int) -> ClosedRange<Int64> {
        lastNumber.withLock { last in
            defer { last += Int64(count) }
            return (last + 1)...(last + Int64(count))
        }
    }

    /// SQL for the uid of the account with a number.
    static func uid(_ number: String) -> String {
        "('00000000-0000-7000-8000-' || lpad(to_hex(\(number)::int8), 12, '0'))::uuid"
    }

    /// SQL for the id of an identity of the account with a number; the identity 0 is the e-mail address.
    static func identity(_ index: String, of number: String) -> String {
        "('00000000-0000-7' || lpad(to_hex(\(index)::int8), 3, '0') || '-9000-'"
            + " || lpad(to_hex(\(number)::int8), 12, '0'))::uuid"
    }

    /// SQL for the id of the session of the account with a number.
    static func session(of number: String) -> String {
        "('00000000-0000-7000-a000-' || lpad(to_hex(\(number)::int8), 12, '0'))::uuid"
    }

    /// The id of an identity of the account at a position.
    func identity(_ index: Int, at position: Int) -> String {
        String(format: "00000000-0000-7%03x-9000-%012llx", index, numbers.lowerBound + Int64(position))
    }
}

extension Seeder {
    private static let insertOwners = Statement(
        .write,
        """
        WITH owner AS MATERIALIZED (
            SELECT n, ('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid AS uid,
                   'owner' || n || '@bench.example' AS email
              FROM generate_series($2::int8, $3::int8) AS n
        ), account AS (
            INSERT INTO accounts (application_id, uid, audit_key) SELECT $1, uid, sha256(int8send(n)) FROM owner
        ), identity AS (
            INSERT INTO identities
                   (application_id, id, uid, provider, provider_uid, email, email_verified, last_used_at)
            SELECT $1, ('00000000-0000-7' || lpad(to_hex(i), 3, '0') || '-9000-' || lpad(to_hex(n), 12, '0'))::uuid, uid,
                   CASE WHEN i = 0 THEN 'email' ELSE 'loopback' END,
                   CASE WHEN i = 0 THEN email ELSE 'owner ' || n || ' ' || i END,
                   CASE WHEN i = 0 THEN email END, i = 0, now()
              FROM owner, generate_series(0, $4::int8 - 1) AS i
        ), address AS (
            INSERT INTO addresses (application_id, kind, address, uid) SELECT $1, 'email', email, uid FROM owner
        )
        INSERT INTO sessions (application_id, id, uid, identity_id, methods, expires_at)
        SELECT $1, ('00000000-0000-7000-a000-' || lpad(to_hex(n), 12, '0'))::uuid, uid,
               ('00000000-0000-7000-9000-' || lpad(to_hex(n), 12, '0'))::uuid, '{pwd}', now() + interval '1 day'
          FROM owner
        """)

    /// Creates accounts that have this number of identities each.
    func owners(_ count: Int, identities: Int = 1, in application: Application) async throws -> Owners {
        let numbers = Owners.newNumbers(count)
        let chunks = stride(from: numbers.lowerBound, through: numbers.upperBound, by: 500)
        for first in chunks {
            _ = try await database.execute(
                Self.insertOwners,
                [
                    .application(application.id), .int(Int(first)), .int(Int(min(first + 499, numbers.upperBound))),
                    .int(identities),
                ])
        }
        return Owners(numbers: numbers, accessTokens: try await accessTokens(ofOwners: numbers, in: application))
    }

    private static let insertTickets = Statement(
        .write,
        """
        INSERT INTO proofs
               (application_id, kind, hash, provider, provider_uid, uid, methods, expires_at, session_id)
        SELECT $1, 'merge', hash, 'email', 'owner' || n + 1 || '@bench.example',
               ('00000000-0000-7000-8000-' || lpad(to_hex(n + 1), 12, '0'))::uuid, '{pwd}', now() + interval '1 hour',
               ('00000000-0000-7000-a000-' || lpad(to_hex(n), 12, '0'))::uuid
          FROM unnest($2::int8[], $3::bytea[]) AS ticket (n, hash)
        """)

    /// Makes tickets by which every other owner may merge with the next one.
    func mergeTickets(for owners: Owners, in application: Application) async throws -> [String] {
        let numbers = stride(from: owners.numbers.lowerBound, to: owners.numbers.upperBound, by: 2).map(Int.init)
        let tickets = newOpaqueTokens(numbers.count)
        _ = try await database.execute(
            Self.insertTickets, [.application(application.id), .ints(numbers), .bytesArray(tickets.map(\.hash))])
        return tickets.map(\.text)
    }

    private static let countAuditEvents = Statement(.read, "SELECT count(*) FROM audit_events")

    func auditEventCount() async throws -> Int { try await count(Self.countAuditEvents) }
}
