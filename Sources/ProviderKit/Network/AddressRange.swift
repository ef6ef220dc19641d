/// A range of IP addresses in CIDR notation (RFC 4632, RFC 4291); a single address is a range of one.
public struct AddressRange: Sendable, Hashable {
    /// 4 or 16 bytes in network order, zero beyond the prefix.
    private let network: [UInt8]
    private let prefixLength: Int

    /// Parses `10.0.0.0/8`, `fd00::/8` or a single address; bits beyond the prefix are ignored.
    /// - Returns: `nil` for any other text.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = parts.first.flatMap({ IPAddress($0) }) else { return nil }
        let bits = address.bytes.count * 8
        guard parts.count == 2 else {
            network = address.bytes
            prefixLength = bits
            return
        }
        guard parts[1].allSatisfy(\.isNumber), let length = Int(parts[1]), length <= bits else { return nil }
        network = address.masked(to: length)
        prefixLength = length
    }

    /// Whether the range contains an address; an IPv4 address that is mapped into IPv6 counts as IPv4.
    public func contains(_ address: String) -> Bool { IPAddress(address).map { contains($0) } ?? false }

    package func contains(_ address: IPAddress) -> Bool {
        guard address.bytes.count == network.count else { return false }
        return address.masked(to: prefixLength) == network
    }
}
