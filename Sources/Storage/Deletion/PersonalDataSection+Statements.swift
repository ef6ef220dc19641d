internal import Accounts
internal import Postgres

/// The statements that read the sections of an export.
///
/// Between `keyed` and `page`, each selects the columns to export and, as `key`, the sort key of a row. The exported
/// row has no `key`, because an export writes named columns only.
extension PersonalDataSection {
    static let keyed: StaticString = """
        SELECT key, to_jsonb(r)::text FROM (
        """

    static let page: StaticString = """
        ) r WHERE key > $3 ORDER BY key LIMIT $4
        """

    private static let accountRows: StaticString = """
        SELECT uid::text AS key, uid, display_name, metadata, roles, claims, locale, rfc3339(created_at) AS created_at,
               rfc3339(updated_at) AS updated_at, rfc3339(disabled_at) AS disabled_at,
               rfc3339(disabled_until) AS disabled_until, rfc3339(deleted_at) AS deleted_at,
               rfc3339(purge_after) AS purge_after
          FROM accounts
        """

    static let account = Statement(.read, keyed, accountRows, "WHERE application_id = $1 AND uid = $2", page)

    static let aliases = Statement(
        .read, SQLStore.family, keyed, accountRows, SQLStore.ofFamily, "AND uid <> $2", page)

    static let identities = Statement(
        .read, SQLStore.family, keyed,
        """
        SELECT id::text AS key, id, provider, provider_uid, is_guest, email, email_verified, phone, phone_verified,
               display_name, profile, rfc3339(created_at) AS created_at, rfc3339(last_used_at) AS last_used_at,
               rfc3339(joined_at) AS joined_at, rfc3339(quarantined_at) AS quarantined_at
          FROM identities
        """, SQLStore.ofFamily, page)

    static let addresses = Statement(
        .read, SQLStore.family, keyed,
        """
        SELECT kind || ' ' || address AS key, kind, address, is_silent, rfc3339(verified_at) AS verified_at
          FROM addresses
        """, SQLStore.ofFamily, page)

    static let passwords = Statement(
        .read, SQLStore.family, keyed,
        """
        SELECT p.identity_id::text AS key, p.identity_id, p.must_change, rfc3339(p.changed_at) AS changed_at,
               rfc3339(p.reset_at) AS reset_at
          FROM identities i
          JOIN passwords p ON p.application_id = $1 AND p.identity_id = i.id
         WHERE i.application_id = $1 AND i.uid = ANY (ARRAY(SELECT uid FROM family))
        """, page)

    static let providerTokens = Statement(
        .read, SQLStore.family, keyed,
        """
        SELECT t.identity_id::text AS key, t.identity_id, i.provider, rfc3339(t.updated_at) AS updated_at
          FROM identities i
          JOIN provider_tokens t ON t.application_id = $1 AND t.identity_id = i.id
         WHERE i.application_id = $1 AND i.uid = ANY (ARRAY(SELECT uid FROM family))
        """, page)

    static let tokenRevocations = Statement(
        .read, SQLStore.family, keyed,
        """
        SELECT identity_id::text || ' ' || extract(epoch FROM created_at)::text AS key, identity_id, provider,
               rfc3339(created_at) AS created_at, attempts, failure, rfc3339(revoked_at) AS revoked_at,
               rfc3339(failed_at) AS failed_at
          FROM token_revocations
        """, SQLStore.ofFamily, page)

    /// Ordered by id, and therefore by time; the inner page restricts the subqueries to the sessions that it returns.
    static let sessions = Statement(
        .read, SQLStore.family, keyed,
        """
        SELECT id::text AS key, id, identity_id, kind, client_id, dialect, parent_id, methods, device, address, resumes,
               continues,
               (SELECT session_pseudonym(a.audit_key, s.id) FROM accounts a
                 WHERE a.application_id = $1 AND a.uid = s.uid) AS audit_session,
               rfc3339(authenticated_at) AS authenticated_at,
               rfc3339(created_at) AS created_at,
               rfc3339(greatest((SELECT max(t.created_at) FROM refresh_tokens t
                                  WHERE t.application_id = $1 AND t.session_id = s.id),
                                (SELECT max(b.used_at) FROM session_bearers b
                                  WHERE b.application_id = $1 AND b.session_id = s.id))) AS last_seen_at,
               rfc3339(expires_at) AS expires_at, rfc3339(ended_at) AS ended_at, end_reason, successor_uid,
               rfc3339(last_used_at) AS last_used_at,
               rfc3339(elevated_until) AS elevated_until
          FROM (SELECT * FROM sessions
        """, SQLStore.ofFamily, "AND id::text > $3 ORDER BY id::text LIMIT $4) s", page)

    static let pendingRegistrations = Statement(
        .read, SQLStore.family, keyed,
        """
        SELECT id::text AS key, id, provider, provider_uid, address, display_name, on_conflict,
               rfc3339(created_at) AS created_at, rfc3339(expires_at) AS expires_at
          FROM registrations
         WHERE application_id = $1 AND (provider, provider_uid) IN (
               SELECT provider, provider_uid FROM registrations
                WHERE application_id = $1 AND uid = ANY (ARRAY(SELECT uid FROM family))
               UNION
               SELECT provider, provider_uid FROM registrations
                WHERE application_id = $1 AND address = ANY (ARRAY(
                      SELECT address FROM addresses WHERE application_id = $1 AND uid = $2)))
        """, page)

    /// Each part of the union uses an index; a single condition would read all proofs of the application.
    static let pendingProofs = Statement(
        .read, SQLStore.family, keyed,
        """
        SELECT encode(sha256(convert_to(kind, 'UTF8') || hash), 'hex') AS key, kind, provider, provider_uid,
               address, address_kind, methods, attempts, invitation, admin_role,
               CASE WHEN granted_on = 0 THEN 'all'
                    ELSE (SELECT a.name FROM applications a WHERE a.id = granted_on) END AS granted_on,
               rfc3339(created_at) AS created_at, rfc3339(expires_at) AS expires_at
          FROM proofs
         WHERE application_id = $1 AND (kind, hash) IN (
               SELECT kind, hash FROM proofs
                WHERE application_id = $1 AND uid = ANY (ARRAY(SELECT uid FROM family))
               UNION
               SELECT kind, hash FROM proofs
                WHERE application_id = $1 AND kind = 'address-change' AND identity_id = ANY (ARRAY(
                      SELECT id FROM identities WHERE application_id = $1 AND uid = $2))
               UNION
               SELECT kind, hash FROM proofs
                WHERE application_id = $1 AND session_id = ANY (ARRAY(
                      SELECT id FROM sessions WHERE application_id = $1 AND uid = $2))
               UNION
               SELECT kind, hash FROM proofs
                WHERE application_id = $1 AND address = ANY (ARRAY(
                      SELECT address FROM addresses WHERE application_id = $1 AND uid = $2)))
        """, page)

    /// Selects the flows that a session of the account started, those that opened such a session, and those whose
    /// evidence has one of the account's subjects or addresses.
    static let redirectFlows = Statement(
        .read, SQLStore.family, keyed,
        """
        SELECT encode(sha256(state_hash), 'hex') AS key, provider, redirect_uri, linking_session, session_id,
               is_fresh, is_short, sealed_evidence IS NOT NULL AS holds_evidence,
               rfc3339(created_at) AS created_at, rfc3339(answered_at) AS answered_at,
               rfc3339(redeemed_at) AS redeemed_at, rfc3339(expires_at) AS expires_at
          FROM redirect_flows
         WHERE application_id = $1 AND state_hash IN (
               SELECT f.state_hash FROM sessions s
                 JOIN redirect_flows f ON f.application_id = $1 AND f.session_id = s.id
                WHERE s.application_id = $1 AND s.uid = ANY (ARRAY(SELECT uid FROM family))
               UNION
               SELECT f.state_hash FROM sessions s
                 JOIN redirect_flows f ON f.application_id = $1 AND f.linking_session = s.id
                WHERE s.application_id = $1 AND s.uid = ANY (ARRAY(SELECT uid FROM family))
               UNION
               SELECT state_hash FROM redirect_flows WHERE application_id = $1 AND marks && $5)
        """, page)

    static let merges = Statement(
        .read, SQLStore.family, keyed,
        """
        SELECT id::text AS key, id, survivor, absorbed, identities, parked,
               CASE WHEN undone_at IS NULL THEN address_kinds ELSE '{}' END AS address_kinds,
               CASE WHEN undone_at IS NULL THEN addresses ELSE '{}' END AS addresses,
               CASE WHEN undone_at IS NULL THEN filled ELSE '{}' END AS filled, rfc3339(merged_at) AS merged_at,
               rfc3339(undo_until) AS undo_until, rfc3339(undone_at) AS undone_at
          FROM merges
         WHERE application_id = $1
           AND (survivor = ANY (ARRAY(SELECT uid FROM family))
                OR absorbed = ANY (ARRAY(SELECT uid FROM family)))
        """, page)

    static let erasures = Statement(
        .read, SQLStore.family, keyed,
        """
        SELECT receipt::text AS key, receipt, rfc3339(requested_at) AS requested_at,
               rfc3339(purge_after) AS purge_after, rfc3339(began_at) AS began_at,
               rfc3339(restored_at) AS restored_at, rfc3339(erased_at) AS erased_at
          FROM erasures
        """, SQLStore.ofFamily, page)

    /// Of a client that has registered itself, also what it has registered, for the list of recipients.
    static let consents = Statement(
        .read, SQLStore.family, keyed,
        """
        SELECT g.uid::text || ' ' || g.client_id AS key, g.client_id, g.scopes, g.resources,
               rfc3339(g.granted_at) AS granted_at, c.metadata AS client_metadata
          FROM consents g
          LEFT JOIN clients c ON c.application_id = $1 AND c.client_id = g.client_id AND c.software IS NULL
         WHERE g.application_id = $1 AND g.uid = ANY (ARRAY(SELECT uid FROM family))
        """, page)

    static let handoffs = Statement(
        .read, SQLStore.family, keyed,
        """
        SELECT encode(sha256(hash), 'hex') AS key, kind, client_id, scopes, resources, state, session_id,
               rfc3339(created_at) AS created_at, rfc3339(expires_at) AS expires_at
          FROM handoffs
        """, SQLStore.ofFamily, page)

    static let instances = Statement(
        .read, SQLStore.family, keyed,
        """
        SELECT client_id AS key, client_id, software, device_type, device_name, session_id,
               rfc3339(created_at) AS created_at
          FROM clients
        """, SQLStore.ofFamily, page)

    static let pins = Statement(
        .read, SQLStore.family, keyed,
        """
        SELECT uid::text AS key, uid, wrong_in_all, rfc3339(changed_at) AS changed_at FROM pins
        """, SQLStore.ofFamily, page)

    static let webhookDeliveries = Statement(
        .read, SQLStore.family, keyed,
        """
        SELECT event_id::text || ' ' || webhook AS key, event_id, name, kind, details, attempts, failure,
               rfc3339(created_at) AS created_at, rfc3339(acknowledged_at) AS acknowledged_at,
               rfc3339(failed_at) AS failed_at
          FROM webhook_deliveries
        """, SQLStore.ofFamily, page)
}
