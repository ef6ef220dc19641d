internal import Crypto

/// Compares secrets and values derived from them.
package enum ConstantTime {
    /// Compares bytes in a time that depends only on their lengths.
    package static func areEqual(_ one: some Collection<UInt8>, _ other: some Collection<UInt8>) -> Bool {
        // `SymmetricKey.==` is documented to take constant time.
        SymmetricKey(data: Array(one)) == SymmetricKey(data: Array(other))
    }
}
