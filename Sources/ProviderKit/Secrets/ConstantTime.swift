internal import Crypto

/// The one comparison for secrets, and for what is derived from them.
package enum ConstantTime {
    /// Compares bytes in a time that depends on their lengths, never on where they differ.
    package static func areEqual(_ one: some Collection<UInt8>, _ other: some Collection<UInt8>) -> Bool {
        // `SymmetricKey` is the library's type whose `==` promises it.
        SymmetricKey(data: Array(one)) == SymmetricKey(data: Array(other))
    }
}
