#if canImport(Security)
    public import Foundation
    internal import Security

    /// Stores a session in the Keychain; it can be read after the first unlock and does not leave the device.
    public struct KeychainStorage: GatehouseClient.Storage {
        private let service: String
        private let account: String
        private let accessGroup: String?

        /// Creates a storage.
        /// - Parameters:
        ///   - service: The service of the Keychain item.
        ///   - account: The account of the Keychain item, such as the server's URL.
        ///   - accessGroup: The access group, to share the session with other apps of the same team.
        public init(service: String = "gatehouse", account: String, accessGroup: String? = nil) {
            self.service = service
            self.account = account
            self.accessGroup = accessGroup
        }

        /// The access group, service and account of the item.
        public var place: String? { [accessGroup ?? "", service, account].joined(separator: " ") }

        /// Reads the item.
        /// - Throws: `NSError` with the status of the Keychain.
        public func load() throws -> Data? {
            var query = item
            query[kSecReturnData as String] = true
            query[kSecMatchLimit as String] = kSecMatchLimitOne
            var found: CFTypeRef?
            let status = SecItemCopyMatching(query as CFDictionary, &found)
            guard status != errSecItemNotFound else { return nil }
            try Self.check(status)
            return found as? Data
        }

        /// Updates the item, or adds it.
        /// - Throws: `NSError` with the status of the Keychain.
        public func save(_ data: Data) throws {
            let values: [String: Any] = [
                kSecValueData as String: data,
                kSecAttrAccessible as String: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
            ]
            let status = SecItemUpdate(item as CFDictionary, values as CFDictionary)
            guard status == errSecItemNotFound else { return try Self.check(status) }
            try Self.check(SecItemAdd(item.merging(values) { $1 } as CFDictionary, nil))
        }

        /// Removes the item.
        /// - Throws: `NSError` with the status of the Keychain.
        public func remove() throws {
            let status = SecItemDelete(item as CFDictionary)
            if status != errSecItemNotFound { try Self.check(status) }
        }

        private var item: [String: Any] {
            var item: [String: Any] = [
                kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: service,
                kSecAttrAccount as String: account,
                // On macOS this selects the data protection Keychain, as on iOS, instead of the file-based one.
                kSecUseDataProtectionKeychain as String: true,
            ]
            item[kSecAttrAccessGroup as String] = accessGroup
            return item
        }

        private static func check(_ status: OSStatus) throws {
            guard status != errSecSuccess else { return }
            throw NSError(domain: NSOSStatusErrorDomain, code: Int(status))
        }
    }
#endif
