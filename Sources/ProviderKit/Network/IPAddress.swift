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
            bytes = withUnsafeBytes(of: &v4) { Array($0) }
            return
        }
        var v6 = in6_addr()
        guard inet_pton(AF_INET6, text, &v6) == 1 else { return nil }
        let all = withUnsafeBytes(of: &v6) { Array($0) }
        let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]
        bytes = all.starts(with: mapped) ? Array(all.dropFirst(mapped.count)) : all
    }

    private init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// In the one spelling of RFC 5952.
    package var description: String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        let family = bytes.count == 4 ? AF_INET : AF_INET6
        guard inet_ntop(family, bytes, &text, socklen_t(text.count)) != nil else { return "" }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// What one subscriber is given: an address of IPv4, or a /64 of IPv6 (RFC 6177), in which anybody can have as many
    /// addresses as they like.
    package var subscriber: String {
        guard bytes.count == 16 else { return description }
        return "\(IPAddress(bytes: masked(to: 64)))/64"
    }

    /// Zero beyond the prefix.
    func masked(to length: Int) -> [UInt8] {
        bytes.enumerated().map { index, byte in
            let kept = min(max(length - index * 8, 0), 8)
            return kept == 0 ? 0 : byte & (0xFF << (8 - kept))
        }
    }
}
