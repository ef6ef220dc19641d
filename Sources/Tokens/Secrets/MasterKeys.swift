import Crypto
import Foundation

/// The keys from the configuration.
///
/// They wrap the root key and nothing else, so that changing them rewrites one row.
///
/// To change the master key under several replicas: give every replica the new one as a previous key, then exchange the
/// two, then drop the old one.
package struct MasterKeys: Sendable {
    private static let length = 32

    private let current: KeyedSeal
    private let previous: [KeyedSeal]

    /// - Parameters:
    ///   - current: 32 bytes in base64, as are the previous ones; white space around them is ignored.
    ///   - previous: keys that open what the current one does not.
    /// - Throws: `TokensError.malformedMasterKey`.
    package init(current: String, previous: [String] = []) throws {
        self.current = try Self.parse(current, setting: "secrets.masterKey")
        self.previous = try previous.enumerated().map { index, text in
            try Self.parse(text, setting: "secrets.previousMasterKeys[\(index)]")
        }
    }

    private static func parse(_ text: String, setting: String) throws -> KeyedSeal {
        let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard let bytes = Data(base64Encoded: text), bytes.count == length else {
            throw TokensError.malformedMasterKey(setting: setting)
        }
        return KeyedSeal(secret: SymmetricKey(data: bytes), label: "root key")
    }

    func wrap(_ rootKey: [UInt8]) throws -> [UInt8] {
        try current.seal(rootKey, authenticating: [])
    }

    /// - Returns: the root key, and whether it should be wrapped anew because a previous key opened it.
    /// - Throws: `TokensError.unreadableRootKey`.
    func unwrap(_ wrapped: [UInt8]) throws -> (rootKey: [UInt8], isOutdated: Bool) {
        if let rootKey = try? current.open(wrapped, authenticating: []) { return (rootKey, false) }
        for key in previous {
            if let rootKey = try? key.open(wrapped, authenticating: []) { return (rootKey, true) }
        }
        throw TokensError.unreadableRootKey
    }
}
