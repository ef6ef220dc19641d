package import Foundation
package import ProviderKit

/// The purpose of a one-time secret, which is valid for that purpose only.
package enum ProofKind: String, Sendable, CaseIterable {
    case registration
    case passwordReset = "password-reset"
    /// Signs in with the link in the mail that also contains a one-time code.
    case signInLink = "sign-in-link"
    case restore
    /// Merges the signed-in account with the account whose identity was proved.
    case mergeTicket = "merge"
    /// Confirms an idle phone number or a quarantined identity, if presented with another sign-in to the account.
    case signInTicket = "second-proof"
    /// Permits the review of identities that were linked before a password reset.
    case review
    /// Opens a session of the account in a browser that an app shows.
    case nativeSecret = "css"
    /// Creates the account of a person that an administrator has invited.
    case invitation
    /// Lets the owner into the account, by an administrator's act.
    case recovery
    /// Makes the account that uses it an administrator's.
    case adminInvitation = "admin-invitation"
}

/// The facts that a one-time secret proves.
package struct Proof: Sendable {
    package let provider, providerUid: String
    package let address: Address?
    package let uid, registration: UUID?
    package let methods: [String]
    /// The password that the account gets when the secret is presented.
    package let password: PasswordHash?
    /// What the account gets that an invitation creates.
    package let invitation: Invitation?

    package init(
        provider: String, providerUid: String, address: Address? = nil, uid: UUID? = nil,
        registration: UUID? = nil, methods: [String] = [], password: PasswordHash? = nil, invitation: Invitation? = nil
    ) {
        (self.provider, self.providerUid, self.address, self.uid) = (provider, providerUid, address, uid)
        (self.registration, self.methods, self.password) = (registration, methods, password)
        self.invitation = invitation
    }

    func isOf(_ identity: Identity) -> Bool {
        identity.provider == provider && identity.providerUid == providerUid
    }

    /// The subject that the secret was mailed to.
    var subject: PasswordSubject? {
        address?.email.map { PasswordSubject(providerUid: providerUid, address: $0) }
    }
}

/// A one-time secret to be issued; the database stores only its hash.
package struct NewProof: Sendable {
    package let kind: ProofKind
    package let token: OpaqueToken
    package let proof: Proof
    /// The only session that may present the secret; `nil` if any client may.
    package var session: UUID?
    package let lifetime: Duration

    /// When the secret expires, for the text of a mail; the database checks the expiry by its own clock.
    package func expiry(from now: Date) -> Date { now.addingTimeInterval(lifetime.inSeconds) }

    /// Valid as long as the registration that it confirms.
    static func registration(_ token: OpaqueToken, id: UUID, provider: String, subject: PasswordSubject) -> NewProof {
        NewProof(
            kind: .registration, token: token,
            proof: Proof(
                provider: provider, providerUid: subject.providerUid, address: .email(subject.address),
                registration: id),
            lifetime: NewRegistration.lifetime)
    }

    /// Valid for an hour, because it replaces a password.
    static func passwordReset(_ token: OpaqueToken, provider: String, subject: PasswordSubject) -> NewProof {
        NewProof(
            kind: .passwordReset, token: token,
            proof: Proof(provider: provider, providerUid: subject.providerUid, address: .email(subject.address)),
            lifetime: .seconds(3600))
    }

    /// Valid as long as the code in the same mail.
    static func signInLink(_ token: OpaqueToken, provider: String, target: ChallengeTarget) -> NewProof {
        NewProof(
            kind: .signInLink, token: token,
            proof: Proof(provider: provider, providerUid: target.providerUid, address: target.address),
            lifetime: OneTimeCodes.lifetime)
    }

    /// Valid for ten minutes; a password reset's also contains the new password and the proved address.
    static func restore(_ token: OpaqueToken, of uid: UUID, by session: NewSession) -> NewProof {
        let evidence = session.evidence
        return NewProof(
            kind: .restore, token: token,
            proof: Proof(
                provider: session.provider, providerUid: evidence.providerUid,
                address: session.newPassword == nil ? nil : evidence.proven.first { $0.kind == .email }, uid: uid,
                methods: evidence.methods, password: session.newPassword), lifetime: .seconds(600))
    }

    /// Valid for a week, since people may read their mail late, and it only permits keeping or removing identities.
    static func review(_ token: OpaqueToken, of uid: UUID, provider: String, subject: PasswordSubject) -> NewProof {
        NewProof(
            kind: .review, token: token,
            proof: Proof(provider: provider, providerUid: subject.providerUid, uid: uid), lifetime: .seconds(7 * 86400))
    }

    /// Valid for five minutes, and only in the session that proved the other account's identity.
    static func mergeTicket(_ token: OpaqueToken, with uid: UUID, by session: NewSession, of current: UUID) -> NewProof
    {
        NewProof(
            kind: .mergeTicket, token: token,
            proof: Proof(
                provider: session.provider, providerUid: session.evidence.providerUid, uid: uid,
                methods: session.evidence.methods), session: current, lifetime: .seconds(300))
    }

    /// Valid for ten minutes, in which the person signs in with another identity.
    static func signInTicket(_ token: OpaqueToken, of uid: UUID, subject: String, by session: NewSession) -> NewProof {
        NewProof(
            kind: .signInTicket, token: token,
            proof: Proof(provider: session.provider, providerUid: subject, uid: uid), lifetime: .seconds(600))
    }
}
extension NewProof {
    /// The proof of a mailed or texted link that creates the account of an invited person.
    package static func invitation(
        _ token: OpaqueToken, to target: ChallengeTarget, at provider: String, _ invitation: Invitation,
        lifetime: Duration
    ) -> NewProof {
        NewProof(
            kind: .invitation, token: token,
            proof: Proof(
                provider: provider, providerUid: target.providerUid, address: target.address, invitation: invitation),
            lifetime: lifetime)
    }

    /// Valid for an hour, as a mailed link that sets a password; `address` is where the link is sent, `nil` if an
    /// administrator hands it over.
    package static func recovery(_ token: OpaqueToken, of uid: UUID, sentTo address: Address?) -> NewProof {
        let subject = Proof.recoverySubject(of: uid)
        return NewProof(
            kind: .recovery, token: token,
            proof: Proof(provider: subject.provider, providerUid: subject.providerUid, address: address, uid: uid),
            lifetime: .seconds(3600))
    }
}

extension Proof {
    /// The subject of an account's recovery links, of which using one ends all.
    package static func recoverySubject(of uid: UUID) -> (provider: String, providerUid: String) {
        ("account", uid.text)
    }
}

package protocol ProofStore: Sendable {
    /// Earlier proofs of the same kind and subject remain valid until one is consumed or its registration replaced.
    func issue(_ proof: NewProof, application: Application.ID) async throws

    func peek(_ kind: ProofKind, hash: [UInt8], application: Application.ID) async throws -> Proof?
    /// Consumes the secret and the others of its kind and subject; if several callers race, only one gets the proof.
    func consume(_ kind: ProofKind, hash: [UInt8], application: Application.ID) async throws -> Proof?
    func discard(_ kind: ProofKind, provider: String, providerUid: String, application: Application.ID) async throws
}
