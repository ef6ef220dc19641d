package import Accounts
package import Foundation
internal import ProviderKit

/// Links with which people become administrators: the first owner's, and those that owners hand over.
package struct AdminInvitations: Sendable {
    package typealias Store = AdminInvitationStore & AdminGrants.Store

    /// How long a link may be valid, and how long it is if nothing is said.
    package static let lifetimes: ClosedRange<Duration> = .seconds(1)...(.seconds(7 * 86_400))
    package static let standardLifetime: Duration = .seconds(86_400)

    /// What came of using a link.
    package enum Outcome: Sendable {
        case granted
        /// The link names an address that the account does not own; it can still be used.
        case addressedToAnother
        /// The link is unknown, used or expired, or its maker may no longer grant the role.
        case gone
    }

    let store: any TransactionalStore & Store
    let opaque: any OpaqueTokens
    /// The application that has the administrators' accounts.
    let home: Application

    package init(store: any TransactionalStore & Store, opaque: any OpaqueTokens, home: Application) {
        (self.store, self.opaque, self.home) = (store, opaque, home)
    }

    /// Makes a link to the console at the URL; nothing is sent.
    package func make(
        _ invitation: NewAdminInvitation, at console: String, by act: AdministrativeAct
    ) async throws -> (link: String, expiresAt: Date) {
        let token = opaque.make()
        let expiry = try await store.insert(invitation, hash: token.hash, by: act, home: home.id)
        return ("\(console)/claim?token=\(token.text)", expiry)
    }

    /// What the link of a token is for, and changes nothing; `nil` if it can't be used.
    package func look(at token: String) async throws -> AdminInvitation? {
        guard let token = opaque.parse(token) else { return nil }
        return try await store.adminInvitation(token.hash, home: home.id)
    }

    /// Uses the link of a token up, and grants its role; of calls at the same time, one succeeds.
    ///
    /// `applications` are all that the server has. A refused call leaves the link as it was.
    /// - Throws: what `AdminGrants.grant` throws, and `AdministrationError.notFound` if the link is for an application
    ///   that the server no longer has.
    package func use(
        _ token: String, by uid: UUID, among applications: [Application], as act: AdministrativeAct
    ) async throws -> Outcome {
        guard let token = opaque.parse(token) else { return .gone }
        let grants = AdminGrants(store: store, home: home)
        return try await store.retryingTransaction(within: .administration) { store in
            // One-time secrets are locked before accounts (docs/architecture.md).
            guard let invitation = try await store.useAdminInvitation(token.hash, by: uid, home: home.id) else {
                let isThere = try await store.adminInvitation(token.hash, home: home.id) != nil
                return isThere ? .addressedToAnother : .gone
            }
            let application = try invitation.application.map { id in
                guard let known = applications.first(where: { $0.id == id }) else {
                    throw AdministrationError.notFound("application")
                }
                return known
            }
            try await grants.lockLive(uid, in: store)
            try await grants.grant(invitation.role, to: uid, on: application, by: act, isAccepted: true, in: store)
            return .granted
        }
    }

    /// The account's first verified address, masked; `nil` for one without.
    package func address(of uid: UUID) async throws -> String? {
        try await store.contact(of: uid, application: home.id).addresses.first.map(Mask.address)
    }
}
