internal import Foundation
internal import ProviderKit

/// Opens sessions without new evidence: after a merge, and when a deletion is cancelled.
struct SessionContinuation: Sendable {
    typealias Store = SessionOpeningStore & RoleIdentityStore

    let store: any Store
    let tokens: SessionTokens

    /// Opens a session of a locked account that continues `previous`, by the matching identity or a usable one.
    ///
    /// If none matches, as after a code to an address without an identity, the session is borrowed where a role would
    /// count in it without a proof.
    func open(
        _ uid: UUID, among identities: [Identity], continuing previous: UUID?, methods: [String],
        authenticatedAt: Date? = nil, from client: Client,
        in application: Application, by matches: (Identity) -> Bool
    ) async throws -> SignInOutcome {
        let identity =
            identities.first(where: matches) ?? identities.first(where: application.providers.canSignIn(with:))
            ?? identities.first
        guard let identity else { throw StoreConflict() }
        let evidence = VerifiedIdentity(providerUid: identity.providerUid, methods: methods)
        var session = tokens.newSession(by: evidence, of: identity.provider, from: client, in: application)
        session.continues = previous
        session.authenticatedAt = authenticatedAt
        session.provesIdentity = false
        let known = KnownIdentity(id: identity.id, uid: uid, status: .live, isQuarantined: identity.isQuarantined)
        var opened = try await store.openSession(session, identity: known, password: nil)
        if !matches(identity) {
            let withRoles = try await store.identitiesWithRoles(
                beyond: "", "", of: uid, application: application.id)
            if withRoles.contains(identity.id) {
                try await store.borrow(session: opened.grant.sessionID, application: application.id)
                opened.grant.isBorrowed = true
            }
        }
        return .opened(opened, secret: session.secret)
    }
}
