internal import Foundation

/// An IP address; an IPv4 address that is mapped into IPv6 (RFC 4291, 2.5.5.2) equals that IPv4 address.
package struct IPAddress: Sendable, Hashable, CustomStringConvertible {
    /// 4 or 16 bytes in network order.
    package let bytes: [UInt8]
    package var isIPv4: Bool { bytes.count == 4 }

    /// Parses the notations of `inet_pton`, without surrounding text.
    package init?(_ text: some StringProtocol) {
        let text = String(text)
        // `inet_pton` ignores everything after a NUL.
        guard !text.utf8.contains(0) else { return nil }
        var v4 = in_addr()
        if inet_pton(AF_INET, text, &v4) == 1 {
            self.init(bytes: withUnsafeBytes(of: &v4) { Array($0) })
            return
        }
        var v6 = in6_addr()
        guard inet_pton(AF_INET6, text, &v6) == 1 else { return nil }
        self.init(networkOrder: withUnsafeBytes(of: &v6) { Array($0) })
    }

    private static let mappingPrefix: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]

    /// Creates an address from the bytes of a socket address; `nil` unless there are 4 or 16.
    package init?(networkOrder bytes: [UInt8]) {
        guard bytes.count == 4 || bytes.count == 16 else { return nil }
        self.init(bytes: bytes.starts(with: Self.mappingPrefix) ? Array(bytes.suffix(4)) : bytes)
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    /// The address in the canonical form of RFC 5952.
    package var description: String {
        // Formatted here, because each request needs the text and `inet_ntop` is several times slower.
        if isIPv4 { return "\(bytes[0]).\(bytes[1]).\(bytes[2]).\(bytes[3])" }
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard inet_ntop(AF_INET6, bytes, &text, socklen_t(text.count)) != nil else { return "" }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// The network of one subscriber: an IPv4 address, or an IPv6 /64 (RFC 6177), whose addresses a subscriber can choose.
    package var subscriber: String {
        guard !isIPv4 else { return description }
        return "\(IPAddress(bytes: masked(to: 64)))/64"
    }

    /// The smallest network that is routed on its own, an IPv4 /24 or an IPv6 /48; one owner may control all its
    /// addresses.
    package var block: String { network(v4: 24, v6: 48) }

    /// The network that contains the address, in CIDR notation, by the length of its prefix.
    package func network(v4 short: Int, v6 long: Int) -> String {
        let length = isIPv4 ? short : long
        return "\(IPAddress(bytes: masked(to: length)))/\(length)"
    }

    /// The bytes of the address with zeros beyond the prefix.
    func masked(to length: Int) -> [UInt8] {
        bytes.enumerated().map { index, byte in
            let kept = min(max(length - index * 8, 0), 8)
            return kept == 0 ? 0 : byte & (0xFF << (8 - kept))
        }
    }
}
