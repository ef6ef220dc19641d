package import ProviderKit

/// Accepts a proof for the signed-in account: links the proved identity, or re-authenticates with an own one.
package struct IdentityProofs: Sendable {
    package let linking: IdentityLinking
    let passwordLinking: PasswordLinking
    let passwordSignIn: PasswordSignIn

    /// Links the proved identity to the principal's account; for a password, mails a token that completes the link.
    /// - Throws: the errors of `IdentityLinking.link` and `PasswordLinking.begin`.
    package func link(
        _ proof: SubmittedProof, of name: String, onConflict: ConflictChoice, by principal: Principal,
        from client: Client
    ) async throws -> LinkOutcome {
        let configured = try principal.application.providers.named(name)
        switch try await proof.read(for: configured) {
        case .presented(let proof):
            return .linked(
                try await linking.link(proof, of: configured, onConflict: onConflict, by: principal, from: client))
        case .password(let typed):
            return .mailed(
                to: try await passwordLinking.begin(
                    typed: typed.email, password: typed.password, with: configured, onConflict: onConflict,
                    by: principal, from: client))
        }
    }

    /// Links an identity that was proven at the pages, also by a redirect flow that was begun to sign in.
    /// - Throws: the errors of `IdentityLinking.link`.
    package func link(
        _ proof: PresentedProof, of name: String, by principal: Principal, from client: Client
    ) async throws -> SignedIn {
        try await linking.link(
            proof, of: principal.application.providers.named(name), onConflict: .keep, by: principal, from: client,
            admittingSignIns: true)
    }

    /// Opens a session with a new proof of one of the account's own identities.
    /// - Throws: the errors of `IdentityLinking.reauthenticate` and `PasswordSignIn.signIn`.
    package func reauthenticate(
        with proof: SubmittedProof, of name: String?, by principal: Principal, from client: Client
    ) async throws -> SignedIn {
        guard let name else { throw AccountsError.missingParameter("provider") }
        let configured = try principal.application.providers.named(name)
        switch try await proof.read(for: configured) {
        case .presented(let proof):
            return try await linking.reauthenticate(with: proof, of: configured, by: principal, from: client)
        case .password(let typed):
            return try await passwordSignIn.signIn(
                typed: typed.email, password: typed.password, by: principal, from: client, in: principal.application)
        }
    }
}

package enum LinkOutcome: Sendable {
    case linked(SignedIn)
    /// A token that completes the link was queued to be mailed to the address.
    case mailed(to: EmailAddress)
}
