package import Accounts
package import Foundation
internal import ProviderKit

/// Makes links that let owners back into their accounts.
package struct RecoveryLinks: Sendable {
    /// How the owner gets the link.
    package enum Delivery: String, Sendable, CaseIterable {
        case mail, sms
        /// The administrator is shown the link once, and hands it over.
        case show
    }

    /// A link that was made.
    package struct Link: Sendable {
        package let expiresAt: Date
        /// `nil` if it was sent to the owner.
        package let shown: String?
    }

    let limits: any RateLimiting
    let opaque: any OpaqueTokens
    let time: any TimeSource

    package init(limits: any RateLimiting, opaque: any OpaqueTokens, time: any TimeSource) {
        (self.limits, self.opaque, self.time) = (limits, opaque, time)
    }

    /// Makes a link, which ends earlier ones of the account; a uid of an absorbed account is that of the survivor.
    ///
    /// A link is sent only to a verified address that the account has, and never to a phone number that was not used
    /// for so long that it may have another owner. Every verified address is told of a link that is shown.
    /// - Throws: `AccountsError.accountNotFound`; `AdministrationError.wrongState` if the account is not live, is a
    ///   guest's, or has no address to send the link to; `AdministrationError.forbidden` if `acts` refuse to act on the
    ///   account; and `AccountsError.rateLimited`.
    package func make(
        _ delivery: Delivery, for uid: UUID, by act: AdministrativeAct, through acts: AccountActs,
        in application: Application
    ) async throws -> Link {
        let token = opaque.make()
        let url = "\(application.issuer)/recover?token=\(token.text)"
        return try await acts.onAccount(uid, in: application) { store, uid, status in
            try await requireRecoverable(uid, status, in: application, store: store)
            let address = try await address(of: uid, for: delivery, in: application, store: store)
            let proof = NewProof.recovery(token, of: uid, sentTo: address)
            let expiry = proof.expiry(from: time.now())
            let subject = Proof.recoverySubject(of: uid)
            try await store.discard(
                .recovery, provider: subject.provider, providerUid: subject.providerUid, application: application.id)
            try await store.issue(proof, application: application.id)
            let contact = try await store.contact(of: uid, application: application.id)
            // The limit is counted outside of the transaction, so it comes after what may make the transaction run again.
            if let address {
                try await limits.spend(
                    delivery == .mail ? .forgotPasswordTarget : .otpSend, of: RateSubject(target: address.value),
                    in: application)
            }
            let messages =
                if let address {
                    [Message(.recovery, to: address, link: url, until: expiry, locale: contact.languages)]
                } else {
                    contact.addresses.map { Message(.recoveryShown, to: $0, locale: contact.languages) }
                }
            try await store.enqueue(messages, about: uid, application: application.id)
            let details = act.details(adding: ["deliver": .string(delivery.rawValue)])
            try await store.record(
                AuditEntry(.recoverySent, of: uid, details: details), application: application.id)
            try await store.keepNote(of: act, about: uid, application: application.id)
            return Link(expiresAt: expiry, shown: delivery == .show ? url : nil)
        }
    }

    /// Requires a live account that is not a guest's.
    ///
    /// An account whose idle number another person may have now has no identity. Its deletion begins at once, so it is
    /// live only if an administrator has restored it.
    private func requireRecoverable(
        _ uid: UUID, _ status: AccountStatus, in application: Application, store: any AccountActs.Store
    ) async throws {
        switch status {
        case .live: break
        case .disabled: throw AdministrationError.wrongState(reason: "The account is disabled")
        case .deleted: throw AdministrationError.wrongState(reason: "The account is being deleted")
        // `onAccount` has refused it.
        case .absorbed: throw StoreConflict()
        }
        let identities = try await store.identities(of: uid, application: application.id)
        guard identities.isEmpty || identities.contains(where: { !$0.isGuest }) else {
            throw AdministrationError.wrongState(reason: "The account is a guest's, who proves nothing to come back")
        }
    }

    /// The address to send the link to; `nil` if it is shown.
    private func address(
        of uid: UUID, for delivery: Delivery, in application: Application, store: any AccountActs.Store
    ) async throws -> Address? {
        guard delivery != .show else { return nil }
        let kind: Address.Kind = delivery == .mail ? .email : .phone
        let found = try await store.recoveryAddress(
            of: uid, kind, usedWithin: application.providers.phoneIdleLimit, application: application.id)
        guard let address = found else {
            throw AdministrationError.wrongState(
                reason: delivery == .mail
                    ? "The account has no verified e-mail address to send a link to"
                    : "The account has no verified phone number that was used lately")
        }
        return address
    }
}
