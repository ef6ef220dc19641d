package import Foundation
internal import ProviderKit
internal import Synchronization

/// Signs in with a code that is sent to an address.
///
/// The response is the same for every address. A code works once, within ten minutes and five attempts. The correct
/// code yields evidence (`VerifiedIdentity`), like the credential of any other provider.
package struct OneTimeCodes: Sendable {
    static let lifetime: Duration = .seconds(600)
    private static let resendAfter: Duration = .seconds(60)

    typealias ProvingStore = ChallengeStore & ProofStore
    typealias Store = ProvingStore & SignIn.Store & MessageOutbox

    let store: any TransactionalStore & Store
    let signIn: SignIn
    let tokens: SessionTokens
    let limits: any RateLimiting

    /// Sends a code unless one was sent within the last minute.
    ///
    /// With a principal, only its session may present the code.
    ///
    /// A client in another network gets a separate challenge for the same code. Its wrong attempts do not count against
    /// the first challenge, and it does not receive that challenge's id.
    /// - Throws: `ProviderError.malformed` for an invalid or unusable address; `AccountsError.rateLimited`.
    package func begin(
        _ typed: String, ofKind kind: String, named name: String?, by principal: Principal?, from client: Client,
        in application: Application
    ) async throws -> SentCode {
        let configured = try application.providers.provider(ofKind: kind, named: name)
        let target = try configured.capability((any ChallengeProvider).self).target(typed: typed)
        return try await send(.proof, to: target, of: configured, by: principal, from: client, in: application)
    }

    func send(
        _ purpose: ChallengePurpose, to target: ChallengeTarget, of configured: ConfiguredProvider,
        by principal: Principal?, from client: Client, in application: Application
    ) async throws -> SentCode {
        let provider: any ChallengeProvider = try configured.capability()
        let (id, code) = (UUID.v7(), Self.newCode())
        let challenge = NewChallenge(
            id: id, purpose: purpose, provider: configured.name, target: target, hash: hash(of: code, challenge: id),
            code: mark(of: code), network: tokens.opaque.networkPseudonym(of: client),
            session: principal?.sessionID, lifetime: Self.lifetime, resendAfter: Self.resendAfter)
        let link = principal == nil ? linkToken(provider) : nil
        let message = Message(
            purpose == .proof ? .signInCode : .confirmAddress, to: target.address, code: code, link: link?.url,
            until: tokens.time.now().addingTimeInterval(Self.lifetime.inSeconds),
            locale: client.languages)
        let isCounted = Mutex(false)
        let issued = try await store.retryingTransaction { store in
            let issued = try await store.issue(challenge, application: application.id)
            guard issued.isNew else { return issued }
            if let link {
                try await store.discard(
                    .signInLink, provider: configured.name, providerUid: target.providerUid, application: application.id
                )
                try await store.issue(
                    .signInLink(link.token, provider: configured.name, target: target), application: application.id)
            }
            // Only sent codes count towards the limit, each once, although the transaction may run again. If the limit is
            // exceeded, the challenge is rolled back.
            if !isCounted.withLock({ $0 }) {
                try await limits.spend(.otpSend, of: RateSubject(target: target.address.value), in: application)
                isCounted.withLock { $0 = true }
            }
            // If the linking rules would refuse the sign-in, such as for a provider without sign-up, no code is sent.
            let opens = try await mayUse(configured, target: target, in: application, store: store)
            let isSent = principal != nil || opens
            try await store.enqueue(
                [isSent ? message : message.withoutRecipient], about: principal?.uid, application: application.id)
            return issued
        }
        return SentCode(
            id: issued.id, expiresIn: Self.lifetime - issued.age, resendAfter: Self.resendAfter - issued.age)
    }

    /// Signs in with a code.
    ///
    /// - Throws: `AccountsError.invalidCredentials`, and the errors of `SignIn.open`; `UnknownIdentity` only without
    ///   `mayOpenAccount`, after the correct code was consumed.
    package func complete(
        _ presented: PresentedOneTimeCode, with configured: ConfiguredProvider, by principal: Principal?,
        mayOpenAccount: Bool = true, from client: Client, in application: Application
    ) async throws -> SignedIn {
        let outcome = try await store.retryingTransactionKeepingRefusals { store -> SignInOutcome? in
            let evidence = try await prove(
                presented, with: configured, session: principal?.sessionID, from: client, in: application, store: store)
            var session = tokens.newSession(by: evidence, of: configured.name, from: client, in: application)
            session.mayOpenAccount = mayOpenAccount
            do {
                return try await signIn.open(session, of: configured, store: store)
            } catch is UnknownIdentity {
                return nil
            }
        }
        guard let outcome else { throw UnknownIdentity() }
        return try await tokens.signedIn(outcome, in: application)
    }

    /// Exchanges the correct code for evidence, and consumes the other codes and sign-in links sent to the address.
    /// - Throws: `AccountsError.invalidCredentials`; the transaction must then commit, so that the attempt is counted.
    func prove(
        _ presented: PresentedOneTimeCode, with configured: ConfiguredProvider, session: UUID?, from client: Client,
        in application: Application, store: any ProvingStore
    ) async throws -> VerifiedIdentity {
        _ = try configured.capability((any ChallengeProvider).self)
        let target = try await verify(
            presented, for: .proof, provider: configured.name, session: session, from: client, in: application,
            store: store)
        try await endChallenges(of: target, provider: configured.name, in: application, store: store)
        return target.evidence
    }

    /// Exchanges the correct code of an address change for the new address, and consumes the code.
    func prove(
        addressChange presented: PresentedOneTimeCode, of identity: Identity, from client: Client,
        in application: Application, store: any ChallengeStore
    ) async throws -> ChallengeTarget {
        let target = try await verify(
            presented, for: .addressChange(identity.id), provider: identity.provider, session: nil, from: client,
            in: application, store: store)
        try await store.endAddressChange(of: identity.id, application: application.id)
        return target
    }

    private func verify(
        _ presented: PresentedOneTimeCode, for purpose: ChallengePurpose, provider: String, session: UUID?,
        from client: Client, in application: Application, store: any ChallengeStore
    ) async throws -> ChallengeTarget {
        guard let id = UUID(uuidString: presented.challengeID), presented.code.utf8.count <= 64 else {
            throw AccountsError.invalidCredentials
        }
        let answer = ChallengeResponse(
            id: id, purpose: purpose, provider: provider, hash: hash(of: presented.code, challenge: id),
            code: mark(of: presented.code), session: session, source: tokens.opaque.refusalSource(of: client))
        guard let target = try await store.attempt(answer, application: application.id) else {
            throw AccountsError.invalidCredentials
        }
        return target
    }

    /// Signs in with the link in the mail, and consumes the code too.
    /// - Returns: `nil` if the token is not the token of a sign-in link.
    func complete(
        linkToken token: OpaqueToken, from client: Client, in application: Application
    ) async throws -> SignedIn? {
        guard try await store.peek(.signInLink, hash: token.hash, application: application.id) != nil else {
            return nil
        }
        let outcome = try await store.retryingTransactionKeepingRefusals { store -> SignInOutcome? in
            guard let proof = try await store.consume(.signInLink, hash: token.hash, application: application.id),
                let address = proof.address
            else { return nil }
            let configured = try application.providers.named(proof.provider)
            let target = ChallengeTarget(providerUid: proof.providerUid, address: address)
            try await endChallenges(of: target, provider: configured.name, in: application, store: store)
            let session = tokens.newSession(by: target.evidence, of: configured.name, from: client, in: application)
            return try await signIn.open(session, of: configured, store: store)
        }
        guard let outcome else { return nil }
        return try await tokens.signedIn(outcome, in: application)
    }

    private func endChallenges(
        of target: ChallengeTarget, provider: String, in application: Application, store: any ProvingStore
    ) async throws {
        try await store.endChallenges(provider: provider, providerUid: target.providerUid, application: application.id)
        try await store.discard(
            .signInLink, provider: provider, providerUid: target.providerUid, application: application.id)
    }

    private func mayUse(
        _ configured: ConfiguredProvider, target: ChallengeTarget, in application: Application,
        store: any LinkingFacts.Store
    ) async throws -> Bool {
        guard configured.mode == .existing else { return true }
        let decision = try await signIn.decision(on: target.evidence, of: configured, in: application, store: store)
        return decision.verdict.outcome != .refuse
    }

    private func linkToken(_ provider: any ChallengeProvider) -> (token: OpaqueToken, url: String)? {
        let token = tokens.opaque.make()
        return provider.signInLink(token: token.text).map { (token, $0) }
    }

    private func hash(of code: String, challenge: UUID) -> [UInt8] {
        tokens.opaque.pseudonym(of: "\(challenge.text):\(code)", purpose: "one-time code")
    }

    /// HMAC of the code without the challenge's id, which the database adds.
    private func mark(of code: String) -> [UInt8] {
        tokens.opaque.pseudonym(of: code, purpose: "one-time code of any challenge")
    }

    /// Six digits, uniformly distributed.
    private static func newCode() -> String {
        var generator = SystemRandomNumberGenerator()
        let digits = String(Int.random(in: 0..<1_000_000, using: &generator))
        return String(repeating: "0", count: 6 - digits.count) + digits
    }
}

package struct SentCode: Sendable {
    package let id: UUID
    package let expiresIn, resendAfter: Duration
}

/// A code as a person types it.
package struct PresentedOneTimeCode: Sendable {
    package let challengeID, code: String

    package init(challengeID: String, code: String) { (self.challengeID, self.code) = (challengeID, code) }
}

extension ChallengeTarget {
    /// The evidence that the correct code gives, with the methods of RFC 8176.
    var evidence: VerifiedIdentity {
        VerifiedIdentity(
            providerUid: providerUid,
            addresses: [AddressClaim(address: address, isVerified: true, isAuthoritative: true)],
            methods: address.kind == .phone ? ["otp", "sms"] : ["otp"])
    }
}
