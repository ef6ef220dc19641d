internal import Foundation
internal import ProviderKit

/// The ticket of a phone number that was idle for too long, or of a quarantined identity: another sign-in of the account
/// makes it good again.
package struct SignInTickets: Sendable {
    typealias Store = AccountLocks & ProofStore & QuarantineStore

    let store: any TransactionalStore & Store
    let opaque: any OpaqueTokens

    /// Runs a sign-in that a ticket goes along with; one of another account leaves the ticket as it is.
    /// - Throws: `AccountsError.invalidToken` for a ticket that is unknown or expired, before anything else.
    package func signingIn(
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
