package import Accounts
package import Foundation
package import OpenID
internal import Postgres

extension SQLStore: DeviceStore {
    private static let storeDevice = Statement(
        .write,
        """
        INSERT INTO handoffs
               (application_id, hash, kind, id, user_code, client_id, issuer, scopes, resources, sealed, poll_interval,
                expires_at)
        VALUES ($1, $2, 'device', $3, $4, $5, $6, $7, $8, $9, $10, now() + $11::interval)
        """)

    package func store(_ device: NewDevice, application: Application.ID) async throws {
        let sealed = try sealing.seal(json: device.requester, at: .handoff(device.hash, application: application))
        try await write(
            Self.storeDevice,
            [
                .application(application), .bytes(device.hash), .uuid(device.id), .bytes(device.userCode),
                .text(device.clientID), .text(device.issuer), .texts(device.scopes), .texts(device.resources),
                .bytes(sealed), .interval(device.interval), .interval(device.lifetime),
            ])
    }

    private static let selectDevice = Statement(
        .read,
        """
        SELECT hash, client_id, scopes, resources, sealed FROM handoffs
         WHERE application_id = $1 AND user_code = $2 AND kind = 'device' AND state = 'waiting' AND expires_at > now()
        """)

    package func waitingDevice(
        showing code: UserCode, hash: [UInt8], application: Application.ID
    ) async throws -> WaitingDevice? {
        guard var row = try await run(Self.selectDevice, [.application(application), .bytes(hash)]).first else {
            return nil
        }
        let device: [UInt8] = try row.next()
        let client: String = try row.next()
        let (scopes, resources): ([String], [String]) = (try row.next(), try row.next())
        return WaitingDevice(
            hash: device, userCode: code, clientID: client, scopes: scopes, resources: resources,
            requester: try sealing.open(json: row.next(), at: .handoff(device, application: application)))
    }

    /// Of several answers at the same time, the first is stored.
    private static let answerDevice = Statement(
        .write,
        """
        WITH person AS MATERIALIZED (
            SELECT s.id, s.uid, a.audit_key
              FROM sessions s JOIN accounts a ON a.application_id = $1 AND a.uid = s.uid
             WHERE s.application_id = $1 AND s.id = $4 AND s.kind = 'browser' AND s.ended_at IS NULL
               AND s.expires_at > now() AND (s.idle IS NULL OR s.last_used_at > now() - s.idle)
               AND a.deleted_at IS NULL AND a.disabled_at IS NULL AND a.absorbed_by IS NULL
        ), answered AS (
            UPDATE handoffs h SET state = $3, uid = person.uid, session_id = person.id
              FROM person
             WHERE h.application_id = $1 AND h.hash = $2 AND h.kind = 'device' AND h.state = 'waiting'
               AND h.expires_at > now()
            RETURNING h.client_id
        ), audited AS (
            INSERT INTO audit_events (application_id, event, account, session_id, details)
            SELECT $1, $5, sha256(person.audit_key || uuid_send(person.uid)),
                   session_pseudonym(person.audit_key, person.id), jsonb_build_object('client', answered.client_id)
              FROM person, answered
        )
        SELECT EXISTS (SELECT 1 FROM answered)
        """)

    package func answer(
        _ device: [UInt8], isAllowed: Bool, by session: UUID, application: Application.ID
    ) async throws -> Bool {
        let binds: [Bind] = [
            .application(application), .bytes(device), .text(isAllowed ? "confirmed" : "refused"), .uuid(session),
            .text(isAllowed ? "device.approved" : "device.denied"),
        ]
        var row = try await one(Self.answerDevice, binds)
        return try row.next()
    }

    // MARK: - Polls

    /// Notes a poll; if the person has allowed the device, opens its session and uses the code up.
    ///
    /// It locks the device, then the account, then the session that has allowed the device. All of them, and the
    /// consent to a third-party client, must still be what they were. Of several polls at the same time, one is the
    /// first, and the others, which wait for it, come too early.
    ///
    /// A poll that waits for the person's answer cannot see the consent that is stored with it. Such a device is still
    /// pending, and the next poll gets the answer.
    ///
    /// If the person's session has got another identity while the statement waited (`stale`), the statement may not see
    /// that identity. It then changes nothing, and must be repeated.
    private static let pollDevice = Statement(
        .write,
        """
        WITH seen AS MATERIALIZED (
            SELECT state FROM handoffs WHERE application_id = $1 AND hash = $2
        ), device AS MATERIALIZED (
            SELECT uid, session_id, state, scopes, resources, poll_interval, poll_interval + $15::interval AS slower,
                   coalesce(polled_at > now() - poll_interval, false) AS is_early, expires_at <= now() AS is_late,
                   'offline_access' = ANY (scopes) AND 'offline_access' = ANY ($6) AS is_offline
              FROM handoffs
             WHERE application_id = $1 AND hash = $2 AND kind = 'device' AND client_id = $8 AND issuer = $9
               FOR UPDATE
        ), account AS MATERIALIZED (
            SELECT uid, audit_key FROM accounts
             WHERE application_id = $1
               AND uid = (SELECT uid FROM device WHERE state = 'confirmed' AND NOT is_early AND NOT is_late)
               AND (SELECT state FROM seen) = 'confirmed'
               AND deleted_at IS NULL AND disabled_at IS NULL AND absorbed_by IS NULL
               FOR SHARE
        ), person AS MATERIALIZED (
            SELECT id, uid, identity_id, methods, authenticated_at, is_borrowed FROM sessions
             WHERE application_id = $1 AND id = (SELECT session_id FROM device) AND uid = (SELECT uid FROM account)
               AND ended_at IS NULL AND expires_at > now() AND (idle IS NULL OR last_used_at > now() - idle)
               FOR SHARE
        ), stale AS MATERIALIZED (
            SELECT s.id FROM person JOIN sessions s ON s.application_id = $1 AND s.id = person.id
             WHERE s.identity_id <> person.identity_id
        ), consent AS MATERIALIZED (
            SELECT scopes, resources FROM consents
             WHERE application_id = $1 AND uid = (SELECT uid FROM account) AND client_id = $8 AND $7
               FOR SHARE
        ), granted AS MATERIALIZED (
            SELECT person.uid, person.identity_id, person.methods, person.authenticated_at, person.is_borrowed,
                   i.provider, i.provider_uid, i.profile, i.is_guest, device.scopes, device.resources,
                   device.is_offline, now() AS now,
                   CASE WHEN device.is_offline THEN now() + $13::interval ELSE now() + $14::interval END AS ends_at,
        """, suitsTarget,
        """
                   AS is_suitable
              FROM device, person, identities i
             WHERE i.application_id = $1 AND i.id = person.identity_id AND NOT EXISTS (SELECT 1 FROM stale)
               AND (NOT $7 OR EXISTS (SELECT 1 FROM consent c
                                        WHERE c.scopes @> device.scopes AND c.resources @> device.resources))
        ), opened AS (
            INSERT INTO sessions
                   (application_id, id, uid, identity_id, methods, authenticated_at, device, address, expires_at, kind,
                    client_id, issuer, last_used_at, is_borrowed)
            SELECT $1, $10, uid, identity_id, methods, authenticated_at, $16, $17, ends_at, 'client', $8, $9, now,
                   is_borrowed
              FROM granted
             WHERE is_suitable
            RETURNING id, expires_at, generation
        ), polled AS (
            UPDATE handoffs h
               SET polled_at = now(), state = CASE WHEN opened.id IS NULL THEN device.state ELSE 'used' END,
                   poll_interval = CASE WHEN device.is_early THEN device.slower ELSE device.poll_interval END
              FROM device LEFT JOIN opened ON true
             WHERE h.application_id = $1 AND h.hash = $2 AND NOT EXISTS (SELECT 1 FROM stale)
        ), token AS (
            INSERT INTO refresh_tokens
                   (application_id, hash, session_id, generation, expires_at, scopes, resources, claims, token_claims,
                    issuer)
            SELECT $1, $11, opened.id, opened.generation, least(now() + $12::interval, opened.expires_at),
                   granted.scopes, granted.resources, '{}'::text[], '{}'::text[], $9
              FROM granted, opened
             WHERE granted.is_offline
        ), audited AS (
            INSERT INTO audit_events (application_id, event, account, session_id, details)
            SELECT $1, 'session.opened', sha256(account.audit_key || uuid_send(account.uid)),
                   session_pseudonym(account.audit_key, opened.id),
                   jsonb_build_object('kind', 'client', 'client', $8::text)
              FROM account, opened
        )
        SELECT EXISTS (SELECT 1 FROM stale),
               CASE WHEN seen.state = 'waiting' THEN seen.state ELSE device.state END, device.is_early, device.is_late,
               granted.scopes, granted.resources, granted.is_borrowed, opened.id, granted.uid,
               granted.authenticated_at, opened.expires_at, opened.generation, granted.methods, granted.provider,
               granted.provider_uid,
        """, firstAddresses,
        """
               , granted.profile::text, a.roles, a.claims::text, granted.scopes, granted.resources, '{}'::text[],
               granted.is_guest
          FROM device
          JOIN seen ON true
          LEFT JOIN granted ON true
          LEFT JOIN opened ON true
          LEFT JOIN accounts a ON a.application_id = $1 AND a.uid = granted.uid
        """)

    package func poll(_ poll: DevicePoll, application: Application.ID) async throws -> DevicePollOutcome {
        let binds: [Bind] =
            [.application(application), .bytes(poll.code)] + poll.target.binds.prefix(5) + [
                .text(poll.client.id), .text(poll.issuer), .uuid(poll.session), .bytes(poll.refreshToken.hash),
                .interval(poll.refreshLifetime), .interval(poll.sessionLifetime),
                .interval(poll.accessLifetime + SessionTokens.roundingMargin),
                .interval(poll.slowDown), .text(poll.connection.device), .text(poll.connection.address),
            ]
        guard var row = try await run(Self.pollDevice, binds).first else { return .refused }
        guard try !row.next(Bool.self) else { throw StoreConflict() }
        let state: String = try row.next()
        let (isEarly, isLate): (Bool, Bool) = (try row.next(), try row.next())
        let (scopes, resources): ([String]?, [String]?) = (try row.next(), try row.next())
        switch state {
        case _ where isEarly: return .tooEarly
        case "used": return .refused
        case "refused": return .denied
        case _ where isLate: return .expired
        case "confirmed": break
        default: return .pending
        }
        let isBorrowed = try row.next(Bool?.self) ?? false
        var probe = row
        guard try probe.next(UUID?.self) != nil else {
            guard let scopes, let resources else { return .refused }
            let scope = ClientScope(scopes: scopes, resources: resources, claims: [], isGuest: false)
            return .unsuitable(scope, isBorrowed: isBorrowed)
        }
        var grant = try row.nextGrant()
        grant.isBorrowed = isBorrowed
        guard let scope = try row.nextClientScope() else { return .refused }
        return .opened(grant, scope)
    }
}
