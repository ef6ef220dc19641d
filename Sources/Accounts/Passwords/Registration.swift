internal import Foundation
package import ProviderKit

/// Creates accounts with an address and a password in two steps: a registration, and a mailed token that confirms it.
///
/// The response does not reveal whether the address is taken. For a taken address the same work is done, its owner gets
/// a notice, and a decoy is stored (`NewRegistration.isDecoy`), so that a later sign-in with the registered password
/// gets the response for an unverified registration.
package struct Registration: Sendable {
    typealias Store = PasswordAttemptStore & RegistrationStore & PasswordStore & ProofStore & LinkingFacts.Store
        & LinkingStore & AddressClaimStore

    let store: any TransactionalStore & Store
    let hasher: any PasswordHashing
    let requests: RegistrationRequest
    let tokens: SessionTokens
    let codes: OneTimeCodes
    let linking: PasswordLinking

    /// - Returns: the normalised address.
    package func register(
        typed: String, password: String, displayName: String?, from client: Client, in application: Application
    ) async throws -> EmailAddress {
        let (configured, provider) = try application.providers.passwordProvider()
        guard configured.mode == .open else {
            throw AccountsError.providerDisabled(LinkingRule.providerNoSignUp.refusal)
        }
        let subject = try provider.subject(typed: typed)
        try await requests.register(
            subject, password: password, displayName: displayName, with: configured, from: client, in: application)
        return subject.address
    }

    /// Creates the account of a mailed token.
    ///
    /// The token works once, and only while the address has no owner; the account gets the password that was registered
    /// with the token. The method also accepts two other mailed tokens: that of a sign-in link, which signs in, and
    /// that of a registration that joins the principal's account.
    ///
    /// The registration's `password` is required if the provider is configured so, and must be correct if given.
    package func verify(
        _ text: String, password: String?, by principal: Principal?, from client: Client, in application: Application
    ) async throws -> SignedIn {
        guard let token = tokens.opaque.parse(text) else { throw AccountsError.invalidToken }
        _ = try await check(password, forLink: token, from: client, in: application)
        if let linked = try await linking.complete(token, by: principal, from: client, in: application) {
            return linked
        }
        if let signedIn = try await codes.complete(linkToken: token, from: client, in: application) { return signedIn }
        return try await createAccount(with: token, from: client, in: application)
    }

    /// Creates the account of a registration at the server's own page, which always asks for the registered password.
    ///
    /// A link alone could sign a browser in to the account of the person who sent it. Sign-in links and registrations
    /// that join an account are therefore refused.
    package func verify(
        _ text: String, requiring password: String, from client: Client, in application: Application
    ) async throws -> SignedIn {
        guard let token = tokens.opaque.parse(text),
            try await check(password, forLink: token, from: client, in: application)
        else { throw AccountsError.invalidToken }
        return try await createAccount(with: token, from: client, in: application)
    }

    private func createAccount(
        with token: OpaqueToken, from client: Client, in application: Application
    ) async throws -> SignedIn {
        let outcome = try await store.retryingTransaction { store in
            let proof = try await store.consume(.registration, hash: token.hash, application: application.id)
            guard let proof, let subject = proof.subject,
                let registered = try await store.takeRegistration(of: proof, application: application.id)
            else { throw AccountsError.invalidToken }
            let provider = try application.providers.named(proof.provider)
            var evidence = subject.evidence
            evidence.displayName = registered.displayName
            let session = tokens.newSession(by: evidence, of: provider.name, from: client, in: application)
            return try await open(session, password: registered.hash, of: provider, store: store)
        }
        return try await tokens.signedIn(outcome, in: application)
    }

    /// Checks the registered password, without consuming the token.
    ///
    /// If the reader of the mail is not the person who registered, the link alone would activate an account with a
    /// stranger's password. A registration that joins an account requires that account's access token instead.
    /// - Returns: whether the password is that of a registration that creates an account.
    private func check(
        _ password: String?, forLink token: OpaqueToken, from client: Client, in application: Application
    ) async throws -> Bool {
        let isRequired = application.providers.linksNeedPassword
        guard isRequired || password != nil,
            let proof = try await store.peek(.registration, hash: token.hash, application: application.id),
            let subject = proof.subject
        else { return false }
        guard let registered = try await store.registration(of: proof, application: application.id) else {
            throw AccountsError.invalidToken
        }
        guard let password else {
            if registered.joining != nil { return false }
            throw AccountsError.invalidCredentials
        }
        try await PasswordCheck(
            of: subject, provider: proof.provider, from: client, in: application, opaque: tokens.opaque,
            hasher: hasher, store: store
        ).require(password, matching: registered.hash)
        return registered.joining == nil
    }

    /// Creates the account with its password, unless the address has an owner by then.
    private func open(
        _ session: NewSession, password: PasswordHash, of provider: ConfiguredProvider, store: any Store
    ) async throws -> SignInOutcome {
        let application = session.application
        let state = try await LinkingFacts(store: store, application: application)
            .read(session.evidence, of: provider).state
        guard state.owners.isEmpty else { throw AccountsError.invalidToken }
        let verdict = decide(session.evidence, state: state, policy: LinkingPolicy(provider, in: application))
        if case .refuse = verdict.outcome { throw AccountsError.providerDisabled(verdict.refusal) }
        guard case .create(let identity) = verdict.outcome else { throw AccountsError.invalidToken }
        let opened = try await store.createAccount(
            opening: session, with: identity, recording: verdict.record(of: session.evidence, in: application))
        try await store.setPassword(
            password, of: opened.identityID, ownedBy: opened.user.uid, replacing: nil, application: application.id)
        try await store.evictUnprovenClaims(on: identity.claiming, owner: opened.user.uid, application: application.id)
        return .opened(opened, secret: session.secret)
    }
}
