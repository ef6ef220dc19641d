package import Crypto

/// Peppers: keys of an HMAC that is applied to passwords before they are hashed; each hash stores the id of its key.
///
/// To rotate, make the new key `current` and keep the old one in `previous`: hashes with the old key still match and
/// count as outdated. A hash whose key is in neither matches no password.
package struct PepperKeys: Sendable {
    /// An id of one to eight bytes, the limit of `keyid` in the PHC string format.
    package struct ID: Sendable, Hashable {
        package let name: String

        package init(_ name: String) throws {
            guard (1...8).contains(name.utf8.count) else {
                throw PasswordsError.invalidSetting(field: "pepper.id", reason: "must be 1 to 8 bytes long")
            }
            self.name = name
        }
    }

    package struct Key: Sendable {
        package let id: ID
        package let secret: SymmetricKey

        /// - Throws: `PasswordsError.invalidSetting` for a secret of less than 32 bytes.
        package init(id: ID, secret: SymmetricKey) throws {
            guard secret.bitCount >= 256 else {
                throw PasswordsError.invalidSetting(field: "pepper.secret", reason: "must be at least 32 bytes long")
            }
            (self.id, self.secret) = (id, secret)
        }
    }

    /// The value for passwords that are hashed without a pepper.
    package static let none = PepperKeys()

    /// The id of the key for new hashes; `nil` if they have no pepper.
    let current: ID?
    private let secrets: [ID: SymmetricKey]

    /// - Throws: `PasswordsError.invalidSetting` if two keys have the same id.
    package init(current: Key?, previous: [Key] = []) throws {
        let keys = [current].compactMap(\.self) + previous
        secrets = Dictionary(keys.map { ($0.id, $0.secret) }) { first, _ in first }
        guard secrets.count == keys.count else {
            throw PasswordsError.invalidSetting(field: "pepper.previous", reason: "must not use an id twice")
        }
        self.current = current?.id
    }

    private init() { (current, secrets) = (nil, [:]) }
    func secret(of id: ID) -> SymmetricKey? { secrets[id] }
}
