import Crypto
import Foundation

/// The master keys from the configuration, which encrypt only the root key; `docs/operations.md` explains a change.
package struct MasterKeys: Sendable {
    private static let length = 32

    private let current: KeyedSeal
    private let previous: [KeyedSeal]

    /// - Parameters:
    ///   - current: 32 bytes in base64; surrounding white space is ignored.
    ///   - previous: keys in the same form, tried after the current one.
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

    func wrap(_ rootKey: [UInt8]) throws -> [UInt8] { try current.seal(rootKey, authenticating: []) }

    /// - Returns: the root key, and whether to wrap it again because a previous key opened it.
    /// - Throws: `TokensError.unreadableRootKey`.
    func unwrap(_ wrapped: [UInt8]) throws -> (rootKey: [UInt8], isOutdated: Bool) {
        if let rootKey = try? current.open(wrapped, authenticating: []) { return (rootKey, false) }
        for key in previous {
            if let rootKey = try? key.open(wrapped, authenticating: []) { return (rootKey, true) }
        }
        throw TokensError.unreadableRootKey
    }
}
