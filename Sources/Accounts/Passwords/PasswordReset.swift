internal import Foundation
internal import ProviderKit

/// A new password for whoever can read the address's mail.
package struct PasswordReset: Sendable {
    private let store: any TransactionalStore
    private let hasher: any PasswordHashing
    private let passwords: any PasswordPolicy
    private let signIn: SignIn
    private let tokens: SessionTokens

    package init(
        store: any TransactionalStore, hasher: any PasswordHashing, passwords: any PasswordPolicy, signIn: SignIn,
        tokens: SessionTokens
    ) {
        self.store = store
        self.hasher = hasher
        self.passwords = passwords
        self.signIn = signIn
        self.tokens = tokens
    }

    /// Mails a link where the address has an account or a pending registration, and does the same work where not.
    package func request(typed: String, in application: Application) async throws {
        let (configured, provider) = try application.providers.passwordProvider()
        let subject = try provider.subject(typed: typed)
        let attempts = tokens.opaque.attemptKey(provider: configured.name, subject: subject)
        let token = tokens.opaque.make()
        let link = provider.link(for: .reset, token: token.text)
        try await store.transaction { store in
            let state = try await store.passwordState(
                of: subject, provider: configured.name, attempts: attempts, application: application.id)
            try await store.issue(
                .passwordReset(token, provider: configured.name, subject: subject), application: application.id)
            guard state.isTaken || state.registration != nil else { return }
            try await store.enqueue(
                [Message(.resetPassword, to: subject.address, link: link)], application: application.id)
        }
    }

    /// Proves the address: sets the password of its identity (which joins or opens an account like any proof of an
    /// address would), ends every session of the account, lifts the lock and forgets pending registrations.
    package func reset(_ text: String, to password: String, from client: Client, in application: Application)
        async throws
    {
        guard let token = tokens.opaque.parse(text),
            let promised = try await store.peek(.passwordReset, hash: token.hash, application: application.id),
            let address = promised.address
        else { throw AccountsError.invalidToken }
        try await passwords.refuseWeak(password, of: address, displayName: nil)
        let hash = try await hasher.hash(password, sharingSaltOf: nil)

        let session = tokens.newSession(methods: ["otp"], client: client, in: application)
        let outcome = try await store.transaction { store in
            guard
                let proof = try await store.consume(.passwordReset, hash: token.hash, application: application.id)
            else { throw AccountsError.invalidToken }
            try await store.discardRegistrations(of: address, application: application.id)
            let evidence = VerifiedIdentity(
                providerUid: proof.providerUid,
                addresses: [AddressClaim(address: address, isVerified: true, isAuthoritative: true)],
                methods: session.methods)
            let provider = try application.providers.named(proof.provider)
            let outcome = try await signIn.open(
                session, with: evidence, of: provider, in: application, store: store)
            if case .opened(let opened) = outcome {
                try await replacePassword(
                    of: opened.user.uid, with: hash, notifying: address, proof: proof, in: application, store: store)
            }
            return outcome
        }
        if case .deleted(let offer) = outcome {
            throw AccountsError.accountDeleted(purgeAfter: offer.purgeAfter, restoreToken: offer.token.text)
        }
    }

    private func replacePassword(
        of uid: UUID, with hash: PasswordHash, notifying address: EmailAddress, proof: Proof,
        in application: Application, store: any AccountsStore
    ) async throws {
        let identity = try await store.passwordIdentity(
            of: uid, provider: proof.provider, application: application.id)
        guard let identity else { throw StoreConflict() }
        _ = try await store.lockAccount(uid, application: application.id)
        try await store.setPassword(hash, of: identity.id, replacing: nil, application: application.id)
        _ = try await store.endSessions(.all, of: uid, because: .passwordReset, application: application.id)
        let subject = PasswordSubject(providerUid: proof.providerUid, address: address)
        try await store.clearFailures(
            tokens.opaque.attemptKey(provider: proof.provider, subject: subject), application: application.id)
        try await store.enqueue([Message(.passwordChanged, to: address)], application: application.id)
    }
}
