package import Accounts
internal import Foundation
internal import Postgres
internal import ProviderKit

extension SQLStore: RegistrationStore {
    private static let register = Statement(
        .write,
        """
        INSERT INTO registrations
               (application_id, provider, provider_uid, id, address, hash, display_name, is_decoy, expires_at, uid,
                on_conflict)
        SELECT $1, $2, $3, $4, $5, $6, $7, $8, now() + $9::interval, $10, $11
         WHERE $10::uuid IS NOT NULL
            OR $8 = (EXISTS (SELECT 1 FROM identities
                              WHERE application_id = $1 AND provider = $2 AND provider_uid = $3)
                  OR EXISTS (SELECT 1 FROM addresses WHERE application_id = $1 AND kind = 'email' AND address = $5))
        ON CONFLICT (application_id, provider, provider_uid) DO UPDATE
           SET id = excluded.id, address = excluded.address, hash = excluded.hash,
               display_name = excluded.display_name, is_decoy = excluded.is_decoy, created_at = excluded.created_at,
               expires_at = excluded.expires_at, uid = excluded.uid, on_conflict = excluded.on_conflict
        """)

    package func register(_ registration: NewRegistration, application: Application.ID) async throws {
        let rows = try await run(
            Self.register,
            [
                .application(application), .text(registration.provider), .text(registration.subject.providerUid),
                .uuid(registration.id), .text(registration.subject.address.value), .text(registration.hash.phc),
                .text(registration.displayName), .bool(registration.isDecoy), .interval(NewRegistration.lifetime),
                .uuid(registration.joining?.uid), .text((registration.joining?.onConflict ?? .keep).rawValue),
            ])
        guard rows.affected == 1 else { throw StoreConflict() }
    }

    private static let takeRegistration = Statement(
        .write,
        """
        DELETE FROM registrations
         WHERE application_id = $1 AND provider = $2 AND provider_uid = $3 AND id = $4
           AND NOT is_decoy AND expires_at > now()
        RETURNING hash, display_name, uid, on_conflict
        """)

    package func takeRegistration(of proof: Proof, application: Application.ID) async throws -> PendingRegistration? {
        try await run(Self.takeRegistration, binds(of: proof, application: application)).first?.registered()
    }

    private static let selectRegistration = Statement(
        .read,
        """
        SELECT hash, display_name, uid, on_conflict FROM registrations
         WHERE application_id = $1 AND provider = $2 AND provider_uid = $3 AND id = $4
           AND NOT is_decoy AND expires_at > now()
        """)

    package func registration(of proof: Proof, application: Application.ID) async throws -> PendingRegistration? {
        try await run(Self.selectRegistration, binds(of: proof, application: application)).first?.registered()
    }

    private func binds(of proof: Proof, application: Application.ID) -> [Bind] {
        [.application(application), .text(proof.provider), .text(proof.providerUid), .uuid(proof.registration)]
    }
}

extension Row {
    fileprivate func registered() throws -> PendingRegistration {
        var row = self
        let hash = PasswordHash(phc: try row.next())
        let displayName: String? = try row.next()
        let uid: UUID? = try row.next()
        let onConflict = ConflictChoice(rawValue: try row.next()) ?? .keep
        return PendingRegistration(
            hash: hash, displayName: displayName,
            joining: uid.map { NewRegistration.Joining(uid: $0, onConflict: onConflict) })
    }
}
