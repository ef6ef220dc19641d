internal import Foundation
internal import ProviderKit

/// Stores registrations and mails the tokens that confirm them.
struct RegistrationRequest: Sendable {
    typealias Store = ProfileStore & PasswordAttemptStore & RegistrationStore & ProofStore & MessageOutbox

    let store: any TransactionalStore & Store
    let hasher: any PasswordHashing
    let passwords: any PasswordPolicy
    let tokens: SessionTokens
    let limits: any RateLimiting

    /// Registers an address with a password, to create an account or to join one.
    func register(
        _ subject: PasswordSubject, password: String, displayName: String? = nil,
        joining: NewRegistration.Joining? = nil, with configured: ConfiguredProvider, from client: Client,
        in application: Application
    ) async throws {
        let provider: any PasswordProvider = try configured.capability()
        try displayName.map { try Profile.check(displayName: $0) }
        let check = PasswordCheck(
            of: subject, provider: configured.name, from: client, in: application, opaque: tokens.opaque,
            hasher: hasher, store: store)
        try hasher.requireCapacity(for: check.requester)
        var personalName = displayName
        if let joining { personalName = try await store.user(joining.uid, application: application.id)?.displayName }
        try await passwords.refuseWeak(password, of: [subject.address], displayName: personalName)
        try await limits.spend(.registerTarget, of: RateSubject(target: subject.address.value), in: application)
        try await retryingOnConflict {
            let state = try await check.state()
            let isDecoy = state.isTaken && joining == nil
            if isDecoy && application.policy.revealExistingIdentities { throw AccountsError.existingIdentity }
            let registration = NewRegistration(
                id: .v7(), provider: configured.name, subject: subject,
                hash: try await hasher.hashRegistration(password, sharingSaltOf: state.hash, for: check.requester),
                displayName: displayName, isDecoy: isDecoy, joining: joining)
            let token = tokens.opaque.make()
            let proof = NewProof.registration(token, id: registration.id, provider: configured.name, subject: subject)
            // The token of a decoy is stored but not mailed, so that both cases take the same time.
            let message =
                isDecoy
                ? Message(.registrationOfTakenAddress, to: .email(subject.address), locale: state.ownerLanguages)
                : Message(
                    joining == nil ? .confirmRegistration : .confirmLink, to: .email(subject.address),
                    link: provider.link(for: .verification, token: token.text),
                    until: proof.expiry(from: tokens.time.now()), locale: client.languages)
            try await store.transaction { store in
                try await store.register(registration, application: application.id)
                try await store.issue(proof, application: application.id)
                try await store.enqueue([message], about: joining?.uid, application: application.id)
            }
        }
    }
}

extension PasswordPolicy {
    /// - Throws: `AccountsError.tooWeakPassword`.
    func refuseWeak(_ password: String, of addresses: [EmailAddress], displayName: String?) async throws {
        let words = addresses.map(\.value) + [displayName].compactMap(\.self)
        let weaknesses = await weaknesses(of: password, personalWords: words)
        guard weaknesses.isEmpty else { throw AccountsError.tooWeakPassword(weaknesses) }
    }
}
