package import ProviderKit

/// Signs in with any form of proof, and with the `ticket` of an earlier refusal, see `SignInTickets`.
package struct ProofSignIn: Sendable {
    let signIn: SignIn
    let passwords: PasswordSignIn
    let codes: OneTimeCodes
    let redemption: CodeRedemption
    let tickets: SignInTickets

    /// Signs in with a direct provider's credential; `name` is required if several providers of the kind exist.
    package func signIn<P: DirectProvider>(
        with credential: P.Credential, of type: P.Type, named name: String?, ticket: String?, from client: Client,
        origin: RequestOrigin, in application: Application
    ) async throws -> SignedIn {
        let configured = try application.providers.provider(ofKind: P.kind, named: name)
        guard let provider = configured.provider as? P else { throw AccountsError.unsupportedProvider(P.kind) }
        let evidence = try await provider.verify(credential, from: origin)
        return try await tickets.signingIn(with: ticket, in: application) {
            try await signIn.signIn(with: evidence, of: configured, from: client, in: application)
        }
    }

    /// Signs in with the ID token that a provider's SDK gave the app.
    package func signIn(
        with token: NativeToken, of name: String, ticket: String?, from client: Client, in application: Application
    ) async throws -> SignedIn {
        let configured = try application.providers.named(name)
        let provider: any NativeTokenProvider = try configured.capability()
        let evidence = try await provider.verify(token)
        return try await tickets.signingIn(with: ticket, in: application) {
            try await signIn.signIn(with: evidence, of: configured, from: client, in: application)
        }
    }

    /// The ways to sign in to the account of a ticket, besides the proof that the ticket was issued for.
    package func ways(with ticket: String, in application: Application) async throws -> WaysToSignIn {
        try await tickets.ways(with: ticket, in: application)
    }

    package func signIn(
        with password: TypedPassword, ticket: String?, from client: Client, in application: Application
    ) async throws -> SignedIn {
        try await tickets.signingIn(with: ticket, in: application) {
            try await passwords.signIn(
                typed: password.email, password: password.password, from: client, in: application)
        }
    }

    /// Signs in with a code that was sent to an address; `principal` is its requester, if one was signed in.
    /// - Throws: the errors of a sign-in; `UnknownIdentity` only without `mayOpenAccount`.
    package func signIn(
        with code: PresentedOneTimeCode, ofKind kind: String, named name: String?, mayOpenAccount: Bool = true,
        ticket: String?, by principal: Principal?, from client: Client, in application: Application
    ) async throws -> SignedIn {
        let configured = try application.providers.provider(ofKind: kind, named: name)
        return try await tickets.signingIn(with: ticket, in: application) {
            try await codes.complete(
                code, with: configured, by: principal, mayOpenAccount: mayOpenAccount, from: client, in: application)
        }
    }

    package func signIn(
        with code: PresentedCode, ticket: String?, from client: Client, in application: Application
    ) async throws -> SignedIn {
        try await tickets.signingIn(with: ticket, in: application) {
            try await redemption.redeem(code, from: client, in: application)
        }
    }

    /// Signs in at the server's own pages, with the code of a redirect flow or with evidence that is verified.
    /// - Throws: the errors of a sign-in; `UnknownIdentity` only without `mayOpenAccount`.
    package func signIn(
        with proof: PresentedProof, of provider: ConfiguredProvider, mayOpenAccount: Bool, ticket: String?,
        from client: Client, in application: Application
    ) async throws -> SignedIn {
        try await tickets.signingIn(with: ticket, in: application) {
            switch proof {
            case .redirectCode(let code):
                try await redemption.redeem(
                    code, mayOpenAccount: mayOpenAccount, from: client, in: application)
            case .evidence(let evidence):
                try await signIn.signIn(
                    with: evidence, of: provider, mayOpenAccount: mayOpenAccount, from: client, in: application)
            case .oneTimeCode:
                throw AccountsError.unsupportedProvider(provider.name)
            }
        }
    }
}
