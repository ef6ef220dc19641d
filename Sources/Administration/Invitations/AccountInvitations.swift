package import Accounts
package import Foundation
package import ProviderKit

/// Invites people who have no account yet.
package struct AccountInvitations: Sendable {
    package typealias Store = InvitationStore & ProofStore & MessageOutbox & AuditTrail & BoundedTransactions

    /// How long an invitation may be valid, and how long it is if nothing is said.
    package static let lifetimes: ClosedRange<Duration> = .seconds(3600)...(.seconds(30 * 86_400))
    package static let standardLifetime: Duration = .seconds(7 * 86_400)

    let store: any TransactionalStore & Store
    let limits: any RateLimiting
    let opaque: any OpaqueTokens
    let time: any TimeSource

    /// The person to invite; the address is as the administrator typed it.
    package struct Invitee: Sendable {
        package let typed: String
        package let kind: Address.Kind
        package let displayName: String?
        package let access: AccessChange
        package let lifetime: Duration?

        package init(
            typed: String, kind: Address.Kind, displayName: String?, access: AccessChange, lifetime: Duration?
        ) {
            (self.typed, self.kind, self.displayName) = (typed, kind, displayName)
            (self.access, self.lifetime) = (access, lifetime)
        }
    }

    /// Sends a link with which the person opens an account; it ends an earlier invitation of the same address.
    ///
    /// - Returns: when the link expires.
    /// - Throws: `AccountsError.existingIdentity` if an account has the address; `invalidParameter`; and
    ///   `providerDisabled` if no provider signs people in with an address of that kind.
    package func invite(_ invitee: Invitee, by act: AdministrativeAct, in application: Application) async throws -> Date
    {
        let access = try application.policy.access.checked(invitee.access)
        if let name = invitee.displayName { try Profile.check(displayName: name) }
        let lifetime = invitee.lifetime ?? Self.standardLifetime
        guard Self.lifetimes.contains(lifetime) else {
            throw AccountsError.invalidParameter("expiresIn", reason: "is 1 hour to 30 days, in seconds")
        }
        guard let configured = application.providers.challengeProvider(for: invitee.kind) else {
            throw AccountsError.providerDisabled(LinkingRule.providerOff.refusal)
        }
        let target = try configured.capability((any ChallengeProvider).self).target(typed: invitee.typed)
        guard try await !store.isTaken(target, provider: configured.name, application: application.id) else {
            // The refusal shows that an account has the address, as a search does.
            let details = act.details(adding: ["kind": .string(invitee.kind.rawValue), "hits": 1])
            try await store.record(AuditEntry(.accountsSearched, details: details), application: application.id)
            throw AccountsError.existingIdentity
        }
        try await limits.spend(
            invitee.kind == .email ? .registerTarget : .otpSend, of: RateSubject(target: target.address.value),
            in: application)

        let token = opaque.make()
        let invitation = Invitation(
            displayName: invitee.displayName,
            access: AccountAccess(roles: access.roles ?? [], claims: access.claims ?? [:]))
        let proof = NewProof.invitation(token, to: target, at: configured.name, invitation, lifetime: lifetime)
        let expiry = proof.expiry(from: time.now())
        let message = Message(
            .invitation, to: target.address, link: "\(application.issuer)/invitation?token=\(token.text)",
            until: expiry)
        let details = details(of: invitation, for: invitee, by: act, in: application)
        try await store.retryingTransaction(within: .administration) { store in
            // Parallel invitations would not see each other's link, and leave several valid.
            try await store.lockInvitation(to: target, provider: configured.name, application: application.id)
            try await store.discard(
                .invitation, provider: configured.name, providerUid: target.providerUid, application: application.id)
            try await store.issue(proof, application: application.id)
            try await store.enqueue([message], application: application.id)
            try await store.record(AuditEntry(.invitationSent, details: details), application: application.id)
        }
        return expiry
    }

    /// What the audit gets, which outlives the account: roles only if the application lists them, and no claims.
    private func details(
        of invitation: Invitation, for invitee: Invitee, by act: AdministrativeAct, in application: Application
    ) -> [String: JSONValue] {
        var details = act.details
        details["kind"] = .string(invitee.kind.rawValue)
        let listed = application.policy.access.roles ?? []
        let roles = invitation.access.roles.filter(listed.contains)
        if !roles.isEmpty { details["roles"] = .array(roles.map { .string($0) }) }
        return details
    }
}
