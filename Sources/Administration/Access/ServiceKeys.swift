package import Accounts
internal import ProviderKit

/// Making, rotating and revoking service keys, and recognising them.
package struct ServiceKeys: Sendable {
    private let store: any ServiceKeyStore
    /// `nil` for commands, which recognise no keys.
    private let limits: (any RateLimiting)?

    /// The longest name, in Unicode code points.
    package static let longestName = 64
    /// The longest time for which a former secret counts.
    package static let longestOverlap: Duration = .seconds(24 * 3600)

    package init(store: any ServiceKeyStore, limits: (any RateLimiting)?) {
        (self.store, self.limits) = (store, limits)
    }

    /// Returns the caller that presents a service key; `address` is `nil` if it is not known.
    ///
    /// - Returns: `nil` for a key of another application.
    /// - Throws: `AccountsError.invalidToken`, alike for every key that can't be used.
    package func administrator(
        presenting text: String, from address: String?, in application: Application
    ) async throws -> Administrator? {
        guard let secret = ServiceKeySecret(text), let key = try await store.use(secret), key.admits(address) else {
            throw AccountsError.invalidToken
        }
        guard secret.application == application.id else { return nil }
        // Only the holder of the key spends its limit; guesses are limited by the client's address.
        try await limits?.spend(.adminKey, of: RateSubject(target: key.id), in: application)
        return Administrator(
            actor: .key(key.id), application: application, scopes: key.scopes, expiresAt: key.expiresAt)
    }

    package func list(of application: Application) async throws -> [ServiceKey] {
        try await store.serviceKeys(of: application.id)
    }

    /// Makes a key.
    ///
    /// - Returns: the key and its text, which can't be read again.
    /// - Throws: `AccountsError.invalidParameter`.
    package func make(
        named name: String, scopes: Set<AdminScope>, clients: [String], lifetime: Duration, longest: Duration,
        by act: AdministrativeAct, in application: Application
    ) async throws -> (key: ServiceKey, text: String) {
        guard (1...Self.longestName).contains(name.unicodeScalars.count) else {
            throw AccountsError.invalidParameter("name", reason: "has 1 to \(Self.longestName) characters")
        }
        guard !scopes.isEmpty else { throw AccountsError.invalidParameter("scopes", reason: "are missing") }
        if let scope = scopes.sorted().first(where: { !$0.isForKeys }) {
            throw AccountsError.invalidParameter("scopes", reason: "can't have \(scope.rawValue), which is for people")
        }
        guard clients.allSatisfy({ AddressRange($0) != nil }) else {
            throw AccountsError.invalidParameter("allow", reason: "lists IP addresses or ranges as in 10.0.0.0/8")
        }
        guard lifetime > .zero, lifetime <= longest else {
            let seconds = longest.components.seconds
            throw AccountsError.invalidParameter(
                "expiresIn", reason: "is not between 1 and \(seconds) seconds (`admin.serviceKeys.longest`)")
        }
        let secret = ServiceKeySecret(for: application.id)
        let key = try await store.insert(
            NewServiceKey(secret: secret, name: name, scopes: scopes, clients: clients, lifetime: lifetime), by: act)
        return (key, secret.text)
    }

    /// The hash of a key's secret, which `rotate` replaces.
    ///
    /// - Throws: `AdministrationError.notFound`.
    package func secretHash(of id: String, in application: Application) async throws -> [UInt8] {
        guard let hash = try await store.secretHash(ofKey: id, application: application.id) else {
            throw AdministrationError.notFound("key")
        }
        return hash
    }

    /// A text that changes with a key's secret, for forms; it is the beginning of the secret's hash.
    ///
    /// - Returns: `nil` if no live key has the id.
    package func mark(of id: String, in application: Application) async throws -> String? {
        try await store.secretHash(ofKey: id, application: application.id).map(Self.mark)
    }

    private static func mark(_ hash: [UInt8]) -> String { Array(hash.prefix(8)).hex }

    /// The hash of a key's secret, which `rotate` replaces.
    ///
    /// - Throws: `AdministrationError.notFound`, and `wrongState` if the secret has another mark than `seen`.
    package func secretHash(of id: String, marked seen: String?, in application: Application) async throws -> [UInt8] {
        let hash = try await secretHash(of: id, in: application)
        guard seen?.hasSameBytes(as: Self.mark(hash)) != false else {
            throw AdministrationError.wrongState(
                reason: "The secret was replaced after the form was opened; open it again to replace the new one")
        }
        return hash
    }

    /// Replaces a key's secret; of calls that have seen the same one, one succeeds.
    ///
    /// - Throws: `AdministrationError.wrongState` if another call has just replaced it.
    package func rotate(
        _ id: String, replacing seen: [UInt8], overlap: Duration, by act: AdministrativeAct, in application: Application
    ) async throws -> (key: ServiceKey, text: String) {
        guard overlap >= .zero, overlap <= Self.longestOverlap else {
            throw AccountsError.invalidParameter("overlap", reason: "is 0 to 24 hours")
        }
        let secret = ServiceKeySecret(for: application.id, id: id)
        do {
            return (
                try await store.rotate(to: secret, replacing: seen, overlap: overlap, by: act), secret.text
            )
        } catch is StoreConflict {
            throw AdministrationError.wrongState(reason: "Another call has just replaced the secret or revoked the key")
        }
    }

    /// Revokes a key; repeated calls change nothing.
    package func revoke(_ id: String, by act: AdministrativeAct, in application: Application) async throws -> ServiceKey
    {
        guard let key = try await store.revoke(id, by: act, application: application.id) else {
            throw AdministrationError.notFound("key")
        }
        return key
    }
}
