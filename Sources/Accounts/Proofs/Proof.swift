package import Foundation
package import ProviderKit

/// The purpose of a one-time secret, which is valid for that purpose only.
package enum ProofKind: String, Sendable, CaseIterable {
    /// Confirms a registration.
    case registration
    case passwordReset = "password-reset"
    /// The link beside a mailed code.
    case signInLink = "sign-in-link"
    /// Restores an account in its grace period.
    case restore
    /// Merges the signed-in account with the one whose identity was proved.
    case mergeTicket = "merge"
    /// Accompanies another sign-in of the account, to confirm an idle number or a quarantined identity.
    case signInTicket = "second-proof"
    /// Keeps or removes identities that were linked before a password reset.
    case review
}

/// What a one-time secret proves.
package struct Proof: Sendable {
    package let provider: String
    package let providerUid: String
    package let address: EmailAddress?
    package let uid: UUID?
    package let registration: UUID?
    package let methods: [String]
    /// The password that the account gets with it.
    package let password: PasswordHash?

    package init(
        provider: String, providerUid: String, address: EmailAddress? = nil, uid: UUID? = nil,
        registration: UUID? = nil, methods: [String] = [], password: PasswordHash? = nil
    ) {
        self.provider = provider
        self.providerUid = providerUid
        self.address = address
        self.uid = uid
        self.registration = registration
        self.methods = methods
        self.password = password
    }

    /// The subject that the secret was mailed to.
    var subject: PasswordSubject? { address.map { PasswordSubject(providerUid: providerUid, address: $0) } }
}

/// A one-time secret to be issued; the database stores only its hash.
package struct NewProof: Sendable {
    package let kind: ProofKind
    package let token: OpaqueToken
    package let proof: Proof
    /// The session that may use it; `nil` for any.
    package var session: UUID?
    package let lifetime: Duration

    /// When it expires, for the text of a mail; the database decides by its own clock.
    func expiry(from now: Date) -> Date {
        now.addingTimeInterval(TimeInterval(lifetime.components.seconds))
    }

    /// Valid for a day: people read mail late.
    static func registration(_ token: OpaqueToken, id: UUID, provider: String, subject: PasswordSubject) -> NewProof {
        NewProof(
            kind: .registration, token: token,
            proof: Proof(
                provider: provider, providerUid: subject.providerUid, address: subject.address, registration: id),
            lifetime: .seconds(86400))
    }

    /// Valid for an hour: it replaces a password.
    static func passwordReset(_ token: OpaqueToken, provider: String, subject: PasswordSubject) -> NewProof {
        NewProof(
            kind: .passwordReset, token: token,
            proof: Proof(provider: provider, providerUid: subject.providerUid, address: subject.address),
            lifetime: .seconds(3600))
    }

    /// Valid as long as the code in the same mail.
    static func signInLink(_ token: OpaqueToken, provider: String, target: ChallengeTarget) -> NewProof {
        NewProof(
            kind: .signInLink, token: token,
            proof: Proof(provider: provider, providerUid: target.providerUid, address: target.address.email),
            lifetime: .seconds(600))
    }

    /// Valid for ten minutes, since the person can sign in again for another one.
    ///
    /// A password reset also stores its new password and the address that it proved.
    static func restore(_ token: OpaqueToken, of uid: UUID, by session: NewSession) -> NewProof {
        let evidence = session.evidence
        return NewProof(
            kind: .restore, token: token,
            proof: Proof(
                provider: session.provider, providerUid: evidence.providerUid,
                address: session.newPassword == nil ? nil : evidence.proven.lazy.compactMap(\.email).first, uid: uid,
                methods: evidence.methods, password: session.newPassword),
            lifetime: .seconds(600))
    }

    /// Valid for a week: people read mail late, and it only keeps or removes identities of the account.
    static func review(_ token: OpaqueToken, of uid: UUID, provider: String, subject: PasswordSubject) -> NewProof {
        NewProof(
            kind: .review, token: token,
            proof: Proof(provider: provider, providerUid: subject.providerUid, uid: uid), lifetime: .seconds(7 * 86400))
    }

    /// Valid for five minutes, in the session that proved the other account's identity.
    static func mergeTicket(_ token: OpaqueToken, with uid: UUID, by session: NewSession, of current: UUID) -> NewProof
    {
        NewProof(
            kind: .mergeTicket, token: token,
            proof: Proof(
                provider: session.provider, providerUid: session.evidence.providerUid, uid: uid,
                methods: session.evidence.methods),
            session: current, lifetime: .seconds(300))
    }

    /// Valid for ten minutes, to sign in in another way.
    static func signInTicket(_ token: OpaqueToken, of uid: UUID, subject: String, by session: NewSession) -> NewProof {
        NewProof(
            kind: .signInTicket, token: token,
            proof: Proof(provider: session.provider, providerUid: subject, uid: uid), lifetime: .seconds(600))
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
    func discard(_ kind: ProofKind, provider: String, providerUid: String, application: Application.ID) async throws
}
