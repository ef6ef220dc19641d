package import Accounts
package import Foundation
internal import ProviderKit

extension AccountActs {
    /// How many sessions a call may name.
    package static let mostSessions = 200

    /// Ends sessions of an account, or all of them; ids that are not of a live session of the account are ignored.
    ///
    /// - Returns: how many sessions have ended, with those that end with one of them.
    /// - Throws: `AccountsError.invalidParameter` for too many ids; `AccountsError.accountNotFound`.
    package func endSessions(
        _ sessions: [UUID]?, of uid: UUID, by act: AdministrativeAct, in application: Application
    ) async throws -> Int {
        guard (sessions ?? []).count <= Self.mostSessions else {
            throw AccountsError.invalidParameter("sessions", reason: "has more than \(Self.mostSessions) ids")
        }
        return try await onAccount(uid, in: application) { store, uid, _ in
            let count = try await store.endSessions(
                sessions, of: uid, because: .administrator, application: application.id)
            if count > 0 { try await Self.record(endOf: count, of: uid, by: act, in: application, store: store) }
            return count
        }
    }

    /// Records that an act has ended sessions, besides the end of each one.
    static func record(
        endOf count: Int, of uid: UUID, by act: AdministrativeAct, in application: Application, store: any Store
    ) async throws {
        let details = act.details(adding: ["sessions": .integer(Int64(count))])
        try await store.record(AuditEntry(.sessionsEnded, of: uid, details: details), application: application.id)
        try await store.keepNote(of: act, about: uid, application: application.id)
    }

    /// Removes an identity from an account, and tells the owner.
    ///
    /// The rules are those of the person's own call, but the last identity stays.
    /// - Throws: `AccountsError.identityNotFound`; `AccountsError.lastUsableIdentity` if no other identity can sign in.
    package func unlink(
        _ id: UUID, of uid: UUID, by act: AdministrativeAct, in application: Application
    ) async throws {
        try await onAccount(uid, in: application) { store, uid, _ in
            let identities = try await store.identities(of: uid, application: application.id)
            guard let identity = identities.first(where: { $0.id == id }) else { throw AccountsError.identityNotFound }
            guard application.providers.canSignIn(withOnly: identities.filter { $0.id != id }) else {
                throw AccountsError.lastUsableIdentity(LinkingRule.lastUsableIdentity.refusal)
            }
            try await IdentityUnlinking(store: store, application: application)
                .unlink(identity, of: uid, details: act.details)
            try await store.keepNote(of: act, about: uid, application: application.id)
        }
    }
}
