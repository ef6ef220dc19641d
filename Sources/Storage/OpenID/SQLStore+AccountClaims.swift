package import Accounts
package import Foundation
internal import OpenID
internal import Postgres
internal import ProviderKit

/// What clients learn about an account.
extension SQLStore {
    /// The oldest verified addresses of the account `a`.
    static let firstAddresses: StaticString = """
        (SELECT d.address FROM addresses d
          WHERE d.application_id = $1 AND d.uid = a.uid AND d.kind = 'email'
          ORDER BY d.verified_at, d.address LIMIT 1),
        (SELECT d.address FROM addresses d
          WHERE d.application_id = $1 AND d.uid = a.uid AND d.kind = 'phone'
          ORDER BY d.verified_at, d.address LIMIT 1)
        """

    /// What `nextAccountClaims` reads of the account `a`.
    static let accountColumns: StaticString = """
        a.display_name, a.locale, a.updated_at
        """

    /// The accounts that were merged into the account `a`, directly or indirectly.
    ///
    /// OFFSET 0 makes the lookups row by row, because the planner doesn't know how few accounts were merged.
    static let absorbed: StaticString = """
        ARRAY(WITH RECURSIVE absorbed AS (
                  SELECT b.uid FROM accounts b WHERE b.application_id = $1 AND b.absorbed_by = a.uid
                  UNION
                  SELECT b.uid FROM absorbed f CROSS JOIN LATERAL (
                         SELECT uid FROM accounts WHERE application_id = $1 AND absorbed_by = f.uid OFFSET 0) b)
              SELECT uid FROM absorbed ORDER BY uid)
        """

    /// The account of each of the client sessions `$2`, if both are live.
    static let selectAccountClaims = Statement(
        .read,
        """
        SELECT s.id, s.client_id, a.uid,
        """, firstAddresses, ",", accountColumns, ",", absorbed,
        """
          FROM sessions s JOIN accounts a ON a.application_id = $1 AND a.uid = s.uid
         WHERE s.application_id = $1 AND s.id = ANY ($2) AND s.client_id IS NOT NULL
           AND s.ended_at IS NULL AND s.expires_at > now()
           AND a.deleted_at IS NULL AND a.disabled_at IS NULL AND a.absorbed_by IS NULL
        """)

    package func accountClaims(
        ofSession session: UUID, client: String, application: Application.ID
    ) async throws -> AccountClaims? {
        let found = try await translatingErrors {
            try await joined.accountClaims.value(of: session, in: application)
        }
        guard let found, found.client.hasSameBytes(as: client) else { return nil }
        return found.claims
    }
}

extension Row {
    /// The columns of `accountColumns`.
    mutating func nextAccountClaims(of grant: SessionGrant) throws -> AccountClaims {
        try nextAccountClaims(uid: grant.uid, email: grant.email, phone: grant.phone)
    }

    /// The columns of `selectAccountClaims` after the session's id.
    mutating func nextClientAccount() throws -> (client: String, claims: AccountClaims) {
        let client: String = try next()
        var claims = try nextAccountClaims(uid: next(), email: next(), phone: next())
        claims.absorbed = try next()
        return (client, claims)
    }

    private mutating func nextAccountClaims(uid: UUID, email: String?, phone: String?) throws -> AccountClaims {
        AccountClaims(
            uid: uid, name: try next(), locale: try next(), email: email, phone: phone, updatedAt: try next())
    }
}
