package import Foundation
package import ProviderKit

/// What a one-time secret is good for.
///
/// A secret of one kind is worth nothing where another is asked for.
package enum ProofKind: String, Sendable, CaseIterable {
    /// Confirms a registration.
    case registration
    case passwordReset = "password-reset"
    /// The link beside a mailed code.
    case signInLink = "sign-in-link"
    /// Brings an account in its grace period back.
    case restore
    /// Merges the account of whoever was signed in with the one whose identity they proved.
    case merge
    /// Goes along with another sign-in of an account whose number was idle for too long, or whose identity is
    /// quarantined.
    case secondProof = "second-proof"
    /// Keeps or removes identities that were linked before a password reset.
    case review
}

/// A one-time secret to be issued; the database keeps its hash alone.
package struct NewProof: Sendable {
    package let kind: ProofKind
    package let token: OpaqueToken
    /// Whom the proof speaks for.
    package let provider: String
    package let providerUid: String
    package var address: EmailAddress?
    package var uid: UUID?
    package var registration: UUID?
    /// The one session that may use it, where it is bound to one.
    package var session: UUID?
    package var methods: [String] = []
    /// What the account's password becomes with it.
    package var password: PasswordHash?
    package let lifetime: Duration

    /// When it stops working, for the person who reads of it; the database judges by its own clock.
    func expiry(from now: Date) -> Date {
        now.addingTimeInterval(TimeInterval(lifetime.components.seconds))
    }

    /// A day: mails are read late.
    static func registration(
        _ token: OpaqueToken, id: UUID, provider: String, subject: PasswordSubject
    ) -> NewProof {
        NewProof(
            kind: .registration, token: token, provider: provider, providerUid: subject.providerUid,
            address: subject.address, registration: id, lifetime: .seconds(86400))
    }

    /// An hour: it replaces a password.
    static func passwordReset(_ token: OpaqueToken, provider: String, subject: PasswordSubject) -> NewProof {
        NewProof(
            kind: .passwordReset, token: token, provider: provider, providerUid: subject.providerUid,
            address: subject.address, lifetime: .seconds(3600))
    }

    /// As long as the code beside it.
    static func signInLink(_ token: OpaqueToken, provider: String, target: ChallengeTarget) -> NewProof {
        NewProof(
            kind: .signInLink, token: token, provider: provider, providerUid: target.providerUid,
            address: target.address.email, lifetime: .seconds(600))
    }

    /// Ten minutes: the right proof was given a moment ago and can be given again.
    ///
    /// With the password of a reset goes the address that it proved.
    static func restore(_ token: OpaqueToken, of uid: UUID, by opening: SessionOpening) -> NewProof {
        NewProof(
            kind: .restore, token: token, provider: opening.provider, providerUid: opening.evidence.providerUid,
            address: opening.newPassword == nil ? nil : opening.evidence.proven.lazy.compactMap(\.email).first,
            uid: uid, methods: opening.evidence.methods, password: opening.newPassword, lifetime: .seconds(600))
    }

    /// A week: mails are read late, and it only keeps or removes identities of the account.
    static func review(
        _ token: OpaqueToken, of uid: UUID, provider: String, subject: PasswordSubject
    ) -> NewProof {
        NewProof(
            kind: .review, token: token, provider: provider, providerUid: subject.providerUid, uid: uid,
            lifetime: .seconds(7 * 86400))
    }
}

extension NewProof {
    /// Five minutes, for the session that proved the other account's identity.
    static func merge(_ token: OpaqueToken, with uid: UUID, by opening: SessionOpening, session: UUID) -> NewProof {
        NewProof(
            kind: .merge, token: token, provider: opening.provider, providerUid: opening.evidence.providerUid,
            uid: uid, session: session, methods: opening.evidence.methods, lifetime: .seconds(300))
    }

    /// Ten minutes, to sign in in another way.
    static func secondProof(
        _ token: OpaqueToken, of uid: UUID, subject: String, by opening: SessionOpening
    ) -> NewProof {
        NewProof(
            kind: .secondProof, token: token, provider: opening.provider, providerUid: subject, uid: uid,
            lifetime: .seconds(600))
    }
}

/// A one-time secret that has just been presented.
package struct Proof: Sendable {
    package let provider: String
    package let providerUid: String
    package let address: EmailAddress?
    package let uid: UUID?
    package let registration: UUID?
    package let methods: [String]
    package let password: PasswordHash?

    package init(
        provider: String, providerUid: String, address: EmailAddress?, uid: UUID?, registration: UUID?,
        methods: [String], password: PasswordHash? = nil
    ) {
        self.provider = provider
        self.providerUid = providerUid
        self.address = address
        self.uid = uid
        self.registration = registration
        self.methods = methods
        self.password = password
    }
}

/// One-time secrets, by hash.
package protocol ProofStore: Sendable {
    /// Earlier proofs of the same kind and subject stay valid until one is used. Those of a registration end with it.
    func issue(_ proof: NewProof, application: Application.ID) async throws

    /// What the secret was issued for, without using it up.
    func peek(_ kind: ProofKind, hash: [UInt8], application: Application.ID) async throws -> Proof?

    /// Uses up the secret and others of its kind and subject. Of concurrent callers one gets the proof.
    func consume(_ kind: ProofKind, hash: [UInt8], application: Application.ID) async throws -> Proof?

    /// Ends every proof of the kind and subject.
    func discard(
        _ kind: ProofKind, provider: String, providerUid: String, application: Application.ID) async throws
}
