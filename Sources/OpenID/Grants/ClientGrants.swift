package import Accounts
package import Foundation
internal import ProviderKit

/// What a client may do with an account: by a consent, or as a first-party client with a session.
package struct ClientGrant: Sendable {
    package var clientID: String
    /// The scopes and resources of the consent; `nil` without one.
    package var scopes, resources: [String]?
    package var grantedAt: Date
    package var lastUsedAt: Date?
    package var lastAddress: String?
    /// Whether the client has a live session of the account.
    package var isInUse: Bool
    /// Whether the person has allowed it; a first-party client without a consent did not ask.
    package var isConsent = true
    /// What the database has of the client; `nil` for a configured one.
    package var stored: StoredClient?
    /// The client, if it is still there.
    package var client: OAuthClient?

    package init(
        clientID: String, scopes: [String]?, resources: [String]?, grantedAt: Date, lastUsedAt: Date?,
        lastAddress: String?, isInUse: Bool
    ) {
        (self.clientID, self.scopes, self.resources) = (clientID, scopes, resources)
        (self.grantedAt, self.lastUsedAt, self.lastAddress) = (grantedAt, lastUsedAt, lastAddress)
        self.isInUse = isInUse
    }
}

package protocol GrantStore: AccountLocks, MessageOutbox, OwnerContactStore, SessionEndStore, TransactionalStore {
    /// The consents of the account, and the clients that have sessions of it.
    func grants(of uid: UUID, application: Application.ID) async throws -> [ClientGrant]
    /// Adds to what a live account allows a client.
    /// - Returns: Whether the account had allowed the client nothing before.
    func grantConsent(
        scopes: [String], resources: [String], to client: String, by uid: UUID, application: Application.ID
    ) async throws -> Bool
    /// Deletes the codes of the account that the client has not redeemed, and those of devices that it has allowed.
    func deleteCodes(of uid: UUID, to client: String, application: Application.ID) async throws
    /// Deletes the account's consent to a client, and records that.
    /// - Returns: `false` if there is neither a consent nor a live session of the client.
    func deleteConsent(of uid: UUID, to client: String, application: Application.ID) async throws -> Bool
}

/// Lists, extends and revokes the grants of an account.
package struct ClientGrants: Sendable {
    let store: any GrantStore
    let directory: ClientDirectory

    /// The consents, and the other clients that have a live session: first-party ones, or those that were.
    ///
    /// An installation of an app is there as long as its session.
    package func list(of uid: UUID, at issuer: Issuer) async throws -> [ClientGrant] {
        var grants: [ClientGrant] = []
        for var grant in try await store.grants(of: uid, application: issuer.application.id) {
            grant.client =
                grant.stored.flatMap { OAuthClient($0, settings: issuer.settings) }
                ?? (try? issuer.settings.client(grant.clientID))
            guard grant.isInUse || !OAuthClient.isInstance(grant.clientID) else { continue }
            if grant.scopes == nil {
                guard grant.isInUse, let client = grant.client else { continue }
                grant.scopes = issuer.settings.scopes(of: client).sorted()
                (grant.resources, grant.isConsent) = (client.resources, false)
            }
            grants.append(grant)
        }
        return grants
    }

    /// Stores consent to what a request asks for; notifies the owner if a third-party client is new.
    package func allow(_ request: ClientRequest, of uid: UUID, at issuer: Issuer) async throws {
        let client = try await directory.find(request.clientID, at: issuer)
        let application = issuer.application.id
        try await store.retryingTransaction { store in
            _ = try await store.lockAccount(uid, application: application)
            let isNew = try await store.grantConsent(
                scopes: request.consentScopes.sorted(), resources: request.resources, to: request.clientID, by: uid,
                application: application)
            guard isNew, let client, !client.isFirstParty else { return }
            try await OwnerNotices(store: store, application: application).send(
                .accessGiven, toOwnerOf: uid, provider: client.shownName)
        }
    }

    /// Deletes the consent to a client, and ends the client's codes and sessions of the account.
    /// - Throws: `AccountsError.grantNotFound` if the account has given the client nothing.
    package func revoke(_ client: String, of uid: UUID, at issuer: Issuer) async throws {
        let application = issuer.application.id
        let isRevoked = try await store.retryingTransaction { store in
            // Redemptions lock the code before the account, too. A code that is being redeemed holds both, so its
            // session exists when the sessions end.
            try await store.deleteCodes(of: uid, to: client, application: application)
            _ = try await store.lockAccount(uid, application: application)
            guard try await store.deleteConsent(of: uid, to: client, application: application) else { return false }
            try await store.endSessions(.ofClient(client), of: uid, because: .consentRevoked, application: application)
            return true
        }
        guard isRevoked else { throw AccountsError.grantNotFound }
    }
}
