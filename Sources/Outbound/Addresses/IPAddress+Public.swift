internal import ProviderKit

extension IPAddress {
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
        // NAT64 (RFC 6052), through which an IPv6-only host sees IPv4. A mapped address was read as an IPv4 address.
        if value >> 32 == 0x0064_FF9B << 64 { return isPublic(v4: UInt32(truncatingIfNeeded: value)) }
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
