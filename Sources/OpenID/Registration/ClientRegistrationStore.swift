package import Accounts
package import Foundation
package import ProviderKit

/// A client to store.
package struct NewClient: Sendable {
    package let id, issuer: String
    package let registration: StoredClient.Registration
    /// SHA-256 of the secret, and the hash of the token that reads and deletes the registration.
    package let secret: [UInt8]?
    package let registrationToken: [UInt8]
    package let quota: Quota
    /// How long it lives unless it is used.
    package let lifetime: Duration
    package let logoutLane: String?

    /// What a registration counts towards.
    package struct Quota: Sendable {
        /// Empty for all clients that are no instances.
        package let name: [UInt8]
        /// How many registrations may count.
        package let most: Int

        /// The registered clients of an application.
        package static let registered = Quota(name: [], most: 10_000)
        /// The instances of one software that were registered from one network in the last hour and have had no
        /// sign-in.
        static func instances(_ name: [UInt8]) -> Quota { Quota(name: name, most: 1000) }
    }
}

/// A client that has just been deleted.
package struct DeletedClient: Sendable {
    /// The session of an instance, which the caller ends; `nil` for other clients, and before the first sign-in.
    package let session: (id: UUID, account: UUID)?

    package init(session: (id: UUID, account: UUID)?) { self.session = session }
}

package protocol ClientRegistrationStore: ClientStore, SessionEndStore, TransactionalStore {
    /// Stores a client, and returns when; `nil` if as many registrations count as may.
    /// - Throws: `StoreConflict` if another registration has got the same place.
    func register(_ client: NewClient, application: Application.ID) async throws -> Date?

    /// The client, if it can still be used and this is its registration token.
    func storedClient(
        _ id: String, registrationToken: [UInt8], application: Application.ID
    ) async throws -> StoredClient?

    /// Makes a client unusable; without a token, whichever it has. `details` are members of the audit event.
    /// - Returns: `nil` if there is no such client.
    func deleteClient(
        _ id: String, registrationToken: [UInt8]?, recording details: [String: JSONValue], application: Application.ID
    ) async throws -> DeletedClient?

    /// Ends the sessions of registered clients that are deleted or have expired.
    func endSessionsOfDeletedClients(in application: Application.ID) async throws

    /// The registered clients, without instances, in the order of their registration.
    func registeredClients(of application: Application.ID) async throws -> [StoredClient]
}
