package import Accounts

package protocol ServiceKeyStore: Sendable {
    /// Returns the live key with that id and secret, and notes its use.
    ///
    /// For the overlap after a rotation, the previous secret counts too.
    /// - Returns: `nil` for an unknown, expired or revoked key, or a wrong secret.
    func use(_ secret: ServiceKeySecret) async throws -> ServiceKey?

    /// The application's keys, the newest first.
    func serviceKeys(of application: Application.ID) async throws -> [ServiceKey]

    /// Stores a new key and records the act.
    func insert(_ key: NewServiceKey, by act: AdministrativeAct) async throws -> ServiceKey

    /// Replaces the secret of a live key and records the act; the former secret counts until `overlap` is over.
    /// - Throws: `StoreConflict` if the key is not live, or another call has replaced the secret since `seen`.
    func rotate(
        to secret: ServiceKeySecret, replacing seen: [UInt8], overlap: Duration, by act: AdministrativeAct
    ) async throws -> ServiceKey

    /// The hash of a live key's present secret.
    func secretHash(ofKey id: String, application: Application.ID) async throws -> [UInt8]?

    /// Revokes a key and records the act, if it is not revoked yet.
    /// - Returns: `nil` if there is no such key.
    func revoke(_ id: String, by act: AdministrativeAct, application: Application.ID) async throws -> ServiceKey?
}

package struct NewServiceKey: Sendable {
    package let secret: ServiceKeySecret
    package let name: String
    package let scopes: Set<AdminScope>
    package let clients: [String]
    package let lifetime: Duration
}
