internal import Foundation

/// An IP address; one of IPv4 mapped into IPv6 (RFC 4291, 2.5.5.2) is that IPv4 address.
package struct IPAddress: Sendable, Hashable, CustomStringConvertible {
    /// 4 or 16 in network order.
    let bytes: [UInt8]

    /// Takes what `inet_pton` takes, and nothing around it.
    package init?(_ text: some StringProtocol) {
        let text = String(text)
        // The system's function would stop reading there.
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

    /// What a socket address holds.
    ///
    /// - Returns: `nil` for anything but 4 or 16 bytes.
    package init?(networkOrder bytes: [UInt8]) {
        guard bytes.count == 4 || bytes.count == 16 else { return nil }
        self.init(bytes: bytes.starts(with: Self.mappingPrefix) ? Array(bytes.suffix(4)) : bytes)
    }

    private init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// In the one spelling of RFC 5952.
    package var description: String {
        // The system's function prints by a format, which takes many times as long, and each request needs it.
        if bytes.count == 4 { return "\(bytes[0]).\(bytes[1]).\(bytes[2]).\(bytes[3])" }
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard inet_ntop(AF_INET6, bytes, &text, socklen_t(text.count)) != nil else { return "" }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// What one subscriber is given: an address of IPv4, or a /64 of IPv6 (RFC 6177), in which anybody can have as many
    /// addresses as they like.
    package var subscriber: String {
        guard bytes.count == 16 else { return description }
        return "\(IPAddress(bytes: masked(to: 64)))/64"
    }

    /// The least that the internet routes on its own, and so the least that whoever has it fills with subscribers: a
    /// /24 of IPv4, or a /48 of IPv6.
    package var block: String {
        let length = bytes.count == 16 ? 48 : 24
        return "\(IPAddress(bytes: masked(to: length)))/\(length)"
    }

    /// Zero beyond the prefix.
    func masked(to length: Int) -> [UInt8] {
        bytes.enumerated().map { index, byte in
            let kept = min(max(length - index * 8, 0), 8)
            return kept == 0 ? 0 : byte & (0xFF << (8 - kept))
        }
    }
}
