import Crypto

package enum ConstantTime {
    /// Compares secrets in a time that tells their lengths at most, never where they differ.
    package static func areEqual(_ one: some Collection<UInt8>, _ other: some Collection<UInt8>) -> Bool {
        // `SymmetricKey` is the library's type whose `==` promises it.
        SymmetricKey(data: Array(one)) == SymmetricKey(data: Array(other))
    }
}
