internal import Foundation
internal import ProviderKit

/// The ways to sign in to an account, without its identities and addresses.
package struct WaysToSignIn: Sendable, Codable, Equatable {
    package var hasPassword = false
    /// The configured names of the providers.
    package var providers: Set<String> = []

    package init() {}
}

/// Tickets of sign-ins that were refused with `SECOND_PROOF_REQUIRED`.
///
/// A ticket is issued for an idle phone number or a quarantined identity. If the client presents it with another
/// sign-in to the same account, the number or the identity is confirmed and can sign in again.
struct SignInTickets: Sendable {
    typealias Store = AccountLocks & IdentityStore & PasswordStore & ProofStore & QuarantineStore

    let store: any TransactionalStore & Store
    let opaque: any OpaqueTokens

    /// Runs a sign-in, and redeems the ticket if the sign-in opens the ticket's account.
    /// - Throws: `AccountsError.invalidToken` for an unknown or expired ticket, before the sign-in runs.
    func signingIn(
        with ticket: String?, in application: Application, _ signIn: () async throws -> SignedIn
    ) async throws -> SignedIn {
        guard let ticket else { return try await signIn() }
        guard let token = opaque.parse(ticket),
            let proof = try await store.peek(.signInTicket, hash: token.hash, application: application.id)
        else { throw AccountsError.invalidToken }
        let signedIn = try await signIn()
        guard let uid = proof.uid, signedIn.session.user.uid == uid else { return signedIn }
        try await store.retryingTransaction { store in
            guard let proof = try await store.consume(.signInTicket, hash: token.hash, application: application.id),
                try await store.lockAccount(uid, application: application.id) == .live
            else { return }
            try await store.confirm(proof, of: uid, application: application.id)
        }
        return signedIn
    }

    /// The ways to sign in to the account of a ticket, besides the proof that the ticket was issued for.
    ///
    /// None are returned for an unknown or expired ticket.
    func ways(with ticket: String, in application: Application) async throws -> WaysToSignIn {
        var ways = WaysToSignIn()
        guard let token = opaque.parse(ticket),
            let proof = try await store.peek(.signInTicket, hash: token.hash, application: application.id),
            let uid = proof.uid
        else { return ways }
        let others = try await store.identities(of: uid, application: application.id).filter { identity in
            application.providers.canSignIn(with: identity) && identity.providerUid != proof.providerUid
                && identity.phone?.value != proof.providerUid
        }
        ways.providers = Set(others.map(\.provider))
        if application.policy.automaticLinking == .verified, others.contains(where: \.emailVerified),
            let provider = application.providers.challengeProvider(for: .email)
        {
            // A code to an address of the account signs in to it.
            ways.providers.insert(provider.name)
        }
        guard let provider = try? application.providers.passwordProvider().0 else { return ways }
        let passwords = try await store.passwordIdentities(
            of: uid, provider: provider.name, preferring: nil, application: application.id)
        ways.hasPassword = passwords.contains { password in
            password.hash != nil && others.contains { $0.id == password.id }
        }
        return ways
    }
}
