import Foundation

/// An IP address.
struct NetworkAddress: Sendable, Hashable, CustomStringConvertible {
    /// The address as 4 or 16 bytes in network order.
    private let bytes: [UInt8]

    /// Parses an address in the formats of `inet_pton`.
    init?(_ text: String) {
        var v4 = in_addr()
        var v6 = in6_addr()
        if inet_pton(AF_INET, text, &v4) == 1 {
            bytes = withUnsafeBytes(of: &v4) { Array($0) }
        } else if inet_pton(AF_INET6, text, &v6) == 1 {
            bytes = withUnsafeBytes(of: &v6) { Array($0) }
        } else {
            return nil
        }
    }

    init(_ address: in_addr) { bytes = withUnsafeBytes(of: address) { Array($0) } }
    init(_ address: in6_addr) { bytes = withUnsafeBytes(of: address) { Array($0) } }
    var isIPv4: Bool { bytes.count == 4 }

    var description: String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard inet_ntop(isIPv4 ? AF_INET : AF_INET6, bytes, &text, socklen_t(text.count)) != nil else { return "" }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Whether the address is globally reachable according to IANA's special-purpose registries (RFC 6890).
    ///
    /// An IPv6 address that contains an IPv4 address is public if the IPv4 address is.
    var isPublic: Bool {
        let value = bytes.reduce(UInt128(0)) { $0 << 8 | UInt128($1) }
        return isIPv4 ? Self.isPublic(v4: UInt32(truncatingIfNeeded: value)) : Self.isPublic(v6: value)
    }

    private static func isPublic(v4 value: UInt32) -> Bool {
        !specialIPv4.contains { network, length in (value ^ network) >> (32 - length) == 0 }
    }

    private static func isPublic(v6 value: UInt128) -> Bool {
        // Mapped addresses (RFC 4291, 2.5.5.2) and NAT64 (RFC 6052), through which an IPv6-only host sees IPv4.
        if value >> 32 == 0xFFFF || value >> 32 == 0x0064_FF9B << 64 {
            return isPublic(v4: UInt32(truncatingIfNeeded: value))
        }
        // 6to4 (RFC 3056): the IPv4 address follows the first two bytes.
        if value >> 112 == 0x2002 { return isPublic(v4: UInt32(truncatingIfNeeded: value >> 80)) }
        // Only 2000::/3 is assigned; loopback, local, multicast and IPv4-compatible addresses are outside it.
        return value >> 125 == 1
            && !specialIPv6.contains { network, length in (value >> 64 ^ UInt128(network)) >> (64 - length) == 0 }
    }

    private static let specialIPv4: [(network: UInt32, length: Int)] = [
        (0x0000_0000, 8),  // this network, and the unspecified address
        (0x0A00_0000, 8),  // private, RFC 1918
        (0x6440_0000, 10),  // shared by carriers, RFC 6598
        (0x7F00_0000, 8),  // loopback
        (0xA83F_8110, 32),  // a cloud's own services, answered by the machine's host under a public number
        (0xA9FE_0000, 16),  // link-local, and the metadata services of clouds
        (0xAC10_0000, 12),  // private
        (0xC000_0000, 24),  // IETF protocols
        (0xC000_0200, 24),  // documentation
        (0xC058_6300, 24),  // 6to4 relays, RFC 7526
        (0xC0A8_0000, 16),  // private
        (0xC612_0000, 15),  // benchmarks
        (0xC633_6400, 24),  // documentation
        (0xCB00_7100, 24),  // documentation
        (0xE000_0000, 4),  // multicast
        (0xF000_0000, 4),  // reserved, and broadcast
    ]

    /// Networks inside 2000::/3 that are not public, by the first 64 bits.
    private static let specialIPv6: [(network: UInt64, length: Int)] = [
        (0x2001_0000_0000_0000, 23),  // IETF protocols: Teredo, benchmarks, ORCHID
        (0x2001_0DB8_0000_0000, 32),  // documentation
        (0x3FFF_0000_0000_0000, 20),  // documentation, RFC 9637
    ]
}
