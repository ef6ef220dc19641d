internal import Foundation
internal import ProviderKit

package struct PasswordReset: Sendable {
    typealias Store = PasswordAttemptStore & MessageOutbox & PasswordReplacement.Store

    let store: any TransactionalStore & Store
    let hasher: any PasswordHashing
    let passwords: any PasswordPolicy
    let replacement: PasswordReplacement
    let tokens: SessionTokens
    let limits: any RateLimiting

    /// Mails a link if the address has an account or a pending registration.
    ///
    /// Otherwise the method does the same work, but the mail is not sent.
    ///
    /// `languages` has the form of `Accept-Language`.
    package func request(typed: String, reading languages: String?, in application: Application) async throws {
        let (configured, provider) = try application.providers.passwordProvider()
        let subject = try provider.subject(typed: typed)
        try await limits.spend(.forgotPasswordTarget, of: RateSubject(target: subject.address.value), in: application)
        let attempts = tokens.opaque.attemptKey(provider: configured.name, subject: subject)
        let token = tokens.opaque.make()
        let proof = NewProof.passwordReset(token, provider: configured.name, subject: subject)
        let message = Message(
            .resetPassword, to: .email(subject.address), link: provider.link(for: .reset, token: token.text),
            until: proof.expiry(from: tokens.time.now()), locale: languages)
        try await store.retryingTransaction { store in
            let state = try await store.passwordState(
                of: subject, provider: configured.name, attempts: attempts, application: application.id)
            try await store.issue(proof, application: application.id)
            let isKnown = state.isTaken || state.registration != nil
            try await store.enqueue([isKnown ? message : message.withoutRecipient], application: application.id)
        }
    }

    /// Proves the address with the mailed token, and sets the password of the address's identity.
    ///
    /// A weak password or a full hashing queue does not consume the token; any later refusal does. An identity that
    /// does not exist yet joins or creates an account by the linking rules. All other access ends: sessions, pending
    /// operations and other passwords, except those of identities that have a role which the mailbox lacks
    /// (`RoleIdentityStore`); recently linked identities are quarantined.
    /// - Throws: `AccountsError.accountDeleted` with a token that restores the account with the new password.
    package func reset(_ text: String, to password: String, from client: Client, in application: Application)
        async throws
    {
        guard let token = tokens.opaque.parse(text),
            let seen = try await store.peek(.passwordReset, hash: token.hash, application: application.id),
            let subject = seen.subject
        else { throw AccountsError.invalidToken }
        try await passwords.refuseWeak(password, of: [subject.address], displayName: nil)
        let attempts = tokens.opaque.attemptKey(provider: seen.provider, providerUid: seen.providerUid)
        let hash = try await hasher.hash(password, sharingSaltOf: nil, for: HashingRequester(client, subject: attempts))

        let session = tokens.newSession(by: subject.evidence, of: seen.provider, from: client, in: application)
        let provider = try application.providers.named(seen.provider)
        let refusal = try await store.retryingTransactionKeepingRefusals { store -> AccountsError? in
            guard try await store.consume(.passwordReset, hash: token.hash, application: application.id) != nil
            else { throw AccountsError.invalidToken }
            let accounts = try await LinkingFacts(store: store, application: application)
                .read(session.evidence, of: provider).state.accounts
            try await store.lock(accounts, session: nil, application: application.id)
            return try await replacement.replace(by: session, of: subject, with: hash, store: store)
        }
        if let refusal { throw refusal }
    }
}

extension PasswordSubject {
    /// The evidence that a mailed token gives.
    var evidence: VerifiedIdentity { ChallengeTarget(providerUid: providerUid, address: .email(address)).evidence }
}
