internal import Foundation
package import ProviderKit

/// Adds an address with a password to a signed-in account, by a registration that joins the account.
///
/// Completing the registration requires both the mailed token and an access token of the account, so that neither the
/// reader of the mail nor the requester can link the address alone.
package struct PasswordLinking: Sendable {
    typealias Store = RegistrationStore & PasswordStore & ElevationStore & IdentityLinking.Store
        & RoleIdentityStore

    let store: any TransactionalStore & Store
    let requests: RegistrationRequest
    let linking: IdentityLinking
    let tokens: SessionTokens

    /// Mails a token to the address, which may have another owner.
    /// - Returns: the normalised address.
    /// - Throws: `AccountsError.otherIdentityRequired`.
    package func begin(
        typed: String, password: String, with configured: ConfiguredProvider, onConflict: ConflictChoice,
        by principal: Principal, from client: Client
    ) async throws -> EmailAddress {
        guard principal.successor == nil else { throw AccountsError.invalidToken }
        let subject = try (configured.capability() as any PasswordProvider).subject(typed: typed)
        let known = try await store.knownIdentity(
            configured.name, subject.providerUid, application: principal.application.id)
        // Runs for unknown addresses, too, so that the time does not show whether an account has the address.
        try await store.requireReach(of: principal, to: known.map { [$0.id] } ?? [])
        try await requests.register(
            subject, password: password, joining: .init(uid: principal.uid, onConflict: onConflict), with: configured,
            from: client, in: principal.application)
        return subject.address
    }

    /// Completes the registration and links the address.
    /// - Returns: `nil` if the token does not belong to a registration that joins an account.
    /// - Throws: `AccountsError.invalidToken`, without changing anything, unless the registration joins the principal's
    ///   account; `.otherIdentityRequired` if the identity has a role that does not count in the session; and the errors
    ///   of `IdentityLinking.link`.
    func complete(_ token: OpaqueToken, by principal: Principal?, from client: Client, in application: Application)
        async throws -> SignedIn?
    {
        guard let seen = try await store.peek(.registration, hash: token.hash, application: application.id),
            let joining = try await store.registration(of: seen, application: application.id)?.joining
        else { return nil }
        guard let principal, principal.uid == joining.uid else { throw AccountsError.invalidToken }
        let outcome = try await store.retryingTransactionKeepingRefusals { store in
            // These come before the token is consumed, because a refusal keeps what was written.
            let known = try await store.knownIdentity(seen.provider, seen.providerUid, application: application.id)
            let isOwn = known?.uid == principal.uid
            if isOwn { try await store.requireReach(of: principal, to: known.map { [$0.id] } ?? []) }
            let proof = try await store.consume(.registration, hash: token.hash, application: application.id)
            // Another registration may have taken the place of this one.
            guard let proof, let subject = proof.subject,
                let registered = try await store.takeRegistration(of: proof, application: application.id)
            else { throw AccountsError.invalidToken }
            let provider = try application.providers.named(proof.provider)
            let outcome = try await linking.link(
                subject.evidence, of: provider, onConflict: joining.onConflict, by: principal, from: client,
                store: store)
            // If the guest was switched to another account, its password must not be set there.
            if case .opened(let opened, _) = outcome, opened.user.uid == principal.uid {
                try await store.setPassword(
                    registered.hash, of: opened.identityID, ownedBy: principal.uid, replacing: nil,
                    application: application.id)
                if isOwn {
                    try await PasswordChangeEffects(store: store).apply(
                        to: principal.uid, subjects: [subject], provider: proof.provider,
                        keeping: opened.grant.sessionID, application: application.id)
                }
            }
            return outcome
        }
        return try await tokens.signedIn(outcome, in: application)
    }
}
