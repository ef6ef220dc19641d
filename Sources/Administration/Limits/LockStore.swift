package import Accounts
package import Foundation
package import ProviderKit

/// A lock that keeps a person or a client out for a while.
package struct SubjectLock: Sendable, Equatable {
    package enum Kind: String, Sendable, CaseIterable {
        /// Too many wrong passwords.
        case password
        /// Too many wrong PINs.
        case pin
        /// Too many wrong codes for an address.
        case code
        /// The same, for codes that were requested from another network than the first one.
        case codeElsewhere
        /// Too many calls of a client, or messages to an address.
        case rate
        /// Too many calls of all clients in the network around the client.
        case networkRate
    }

    package let kind: Kind
    /// The name of the provider, of the kind of address, or of the rate limit.
    package let name: String
    package let until: Date

    package init(kind: Kind, name: String, until: Date) {
        (self.kind, self.name, self.until) = (kind, name, until)
    }
}

package protocol LockStore: Sendable {
    /// The account that owns an address.
    func owner(of address: Address, application: Application.ID) async throws -> UUID?

    /// The locks that hold now.
    func locks(_ keys: LockKeys, of kind: Address.Kind?, application: Application.ID) async throws -> [SubjectLock]

    /// Removes the counters behind these keys, also those that do not lock yet, and records the act if there were any.
    ///
    /// The counter of wrong codes is removed only if it locks, because it bounds the guesses of a whole day.
    func removeLocks(
        _ keys: LockKeys, of owner: UUID?, by act: AdministrativeAct, application: Application.ID
    ) async throws
}
