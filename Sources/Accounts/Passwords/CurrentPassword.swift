/// Checks the password of an account that is signed in.
struct CurrentPassword: Sendable {
    let store: any PasswordAttemptStore & PasswordStore
    let hasher: any PasswordHashing
    let opaque: any OpaqueTokens

    /// - Throws: `AccountsError.invalidCredentials`, also if the account has no password;
    ///   `.identityTemporarilyLocked`.
    func require(_ password: String, of principal: Principal, from client: Client) async throws {
        let identities = try await store.passwordIdentities(of: principal)
        guard let identity = identities.first(where: { $0.hash != nil }) else { throw AccountsError.invalidCredentials }
        let provider = try principal.application.providers.passwordProvider().0.name
        let check = PasswordCheck(
            of: identity.subject, provider: provider, from: client, in: principal.application, opaque: opaque,
            hasher: hasher, store: store)
        try await check.require(password, matching: identity.hash)
    }
}
