internal import Foundation

/// A range of IP addresses in CIDR notation (RFC 4632, RFC 4291); a lone address is a range of one.
public struct AddressRange: Sendable, Hashable {
    /// 4 or 16 bytes in network order, zero beyond the prefix.
    private let network: [UInt8]
    private let prefixLength: Int

    /// - Returns: `nil` for anything but `10.0.0.0/8`, `fd00::/8` or an address alone. Bits beyond the prefix don't
    ///   matter.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = parts.first.flatMap({ Self.bytes(of: String($0)) }) else { return nil }
        let bits = address.count * 8
        guard parts.count == 2 else {
            network = address
            prefixLength = bits
            return
        }
        guard parts[1].allSatisfy(\.isNumber), let length = Int(parts[1]), length <= bits else { return nil }
        network = Self.masked(address, to: length)
        prefixLength = length
    }

    /// Takes an address as a socket or a header names it; one of IPv4 mapped into IPv6 counts as IPv4.
    public func contains(_ address: String) -> Bool {
        guard let bytes = Self.bytes(of: address), bytes.count == network.count else { return false }
        return Self.masked(bytes, to: prefixLength) == network
    }

    private static func bytes(of text: String) -> [UInt8]? {
        var v4 = in_addr()
        if inet_pton(AF_INET, text, &v4) == 1 {
            return withUnsafeBytes(of: &v4) { Array($0) }
        }
        var v6 = in6_addr()
        guard inet_pton(AF_INET6, text, &v6) == 1 else { return nil }
        let bytes = withUnsafeBytes(of: &v6) { Array($0) }
        let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]
        return bytes.starts(with: mapped) ? Array(bytes.dropFirst(mapped.count)) : bytes
    }

    private static func masked(_ bytes: [UInt8], to length: Int) -> [UInt8] {
        bytes.enumerated().map { index, byte in
            let kept = min(max(length - index * 8, 0), 8)
            return kept == 0 ? 0 : byte & (0xFF << (8 - kept))
        }
    }
}
