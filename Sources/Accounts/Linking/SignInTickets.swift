internal import Foundation
internal import ProviderKit

/// Tickets of sign-ins that were refused with `SECOND_PROOF_REQUIRED`.
///
/// A ticket is issued for an idle phone number or a quarantined identity. If the client presents it with another
/// sign-in to the same account, the number or the identity is confirmed and can sign in again.
struct SignInTickets: Sendable {
    typealias Store = AccountLocks & ProofStore & QuarantineStore

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
}
