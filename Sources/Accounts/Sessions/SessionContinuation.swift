internal import Foundation
internal import ProviderKit

/// Opens sessions without new evidence: after a merge, and when a deletion is cancelled.
struct SessionContinuation: Sendable {
    typealias Store = IdentityStore & SessionOpeningStore

    let store: any Store
    let application: Application

    /// Opens a session of a locked account by the identity that matches, else by the first that can sign in.
    ///
    /// Does not count as a use of the identity.
    func open(
        _ session: NewSession, of uid: UUID, by matches: (IdentityRecord) -> Bool
    ) async throws -> SignInOutcome {
        let identities = try await store.identities(of: uid, application: application.id)
        let identity =
            identities.first(where: matches) ?? identities.first(where: application.providers.canSignIn(with:))
            ?? identities.first
        guard let identity else { throw StoreConflict() }
        var session = session
        session.provesIdentity = false
        let opening = SessionOpening(
            session: session, evidence: VerifiedIdentity(providerUid: identity.providerUid, methods: session.methods),
            provider: identity.provider, application: application.id)
        let known = KnownIdentity(
            id: identity.id, uid: uid, status: .live, isQuarantined: identity.isQuarantined)
        return .opened(
            try await store.openSession(opening, identity: known, password: nil), refreshToken: session.refreshToken)
    }
}
