package import Accounts
internal import ProviderKit

/// Looking at the keys that sign an application's tokens, and replacing them.
package struct SigningKeyActs: Sendable {
    package typealias Store = SigningKeyListStore & BoundedTransactions

    let store: any TransactionalStore & Store
    let changes: any SigningKeyChanges

    package func list(of application: Application) async throws -> [ListedSigningKey] {
        try await store.transaction(within: .administration) { store in
            try await store.listedSigningKeys(application: application.id)
        }
    }

    /// The `kid` of the key that signs access tokens now, which `rotate` replaces.
    package func signingKey(of application: Application) async throws -> String {
        try await changes.signingKey(of: application)
    }

    /// Signs with new keys from now on; tokens of the old ones are accepted until they expire.
    ///
    /// Of calls that have seen the same key, one replaces it, and the others return the result.
    package func rotate(
        replacing seen: String, by act: AdministrativeAct, in application: Application
    ) async throws -> [ListedSigningKey] {
        try await changes.rotate(
            application, replacing: seen, overlap: nil, recording: AuditEntry(.keysRotated, details: act.details))
        return try await list(of: application)
    }

    /// The key that `retire` would retire.
    ///
    /// - Throws: `AdministrationError.notFound`, and `wrongState` for a key of erasure certificates.
    package func retirable(_ kid: String, in application: Application) async throws -> ListedSigningKey {
        guard let key = try await list(of: application).first(where: { $0.kid.hasSameBytes(as: kid) }) else {
            throw AdministrationError.notFound("key")
        }
        guard key.purpose != .erasures else {
            throw AdministrationError.wrongState(
                reason: "Certificates of erasure have to stay verifiable, so their keys stay published")
        }
        return key
    }

    /// Has every token of a key refused from now on; a key that signs is replaced first.
    ///
    /// - Returns: the key afterwards.
    /// - Throws: the errors of `retirable`, and `AdministrationError.confirmationRequired`.
    package func retire(
        _ kid: String, confirmedBy confirm: String?, by act: AdministrativeAct, in application: Application
    ) async throws -> ListedSigningKey {
        let key = try await retirable(kid, in: application)
        try AdministrationError.require(confirm, toBe: "retire \(key.kid)")
        guard key.state != .retired else { return key }
        let entry = AuditEntry(.keyRetired, details: act.details(adding: ["key": .string(key.kid)]))
        try await changes.retire(key.kid, for: key.purpose, of: application, recording: entry)
        return try await retirable(kid, in: application)
    }
}
