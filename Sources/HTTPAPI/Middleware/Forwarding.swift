internal import HTTPTypes
internal import Hummingbird
internal import ProviderKit

/// The client's address and scheme, which a proxy may report in header fields.
///
/// The fields are ignored unless the peer is a trusted proxy.
struct Forwarding {
    /// The right-most address that is not itself a trusted proxy.
    let address: String
    /// `false` if the peer is a trusted proxy that has not stated its client, so that `address` is the proxy's.
    let isAddressStated: Bool
    let isSecure: Bool

    init(of request: Request, peer: IPAddress?, site: Site, at listener: Listener) {
        let endsTLS = listener.endsTLS(in: site)
        guard let peer, site.isTrustedProxy(peer) else {
            address = peer?.description ?? "unknown"
            isAddressStated = peer != nil
            isSecure = endsTLS
            return
        }
        let client = Self.client(in: request.headers[values: .xForwardedFor], isTrusted: site.isTrustedProxy)
        address = (client ?? peer).description
        isAddressStated = client != nil
        isSecure = endsTLS || request.headers[.xForwardedProto]?.hasSameBytes(ignoringCaseAs: "https") == true
    }

    /// The longest accepted entry in bytes: enough for an IPv6 address in brackets and a port.
    private static let longestEntry = 64

    /// Finds the client: the right-most address that is not a trusted proxy, or the left-most address if all are
    /// trusted.
    ///
    /// Each proxy appends its peer's address on the right, and the client can write anything further to the left.
    /// - Returns: `nil` if the entry that would be the client is not an address.
    static func client(in fields: [String], isTrusted: (IPAddress) -> Bool) -> IPAddress? {
        var farthest: IPAddress?
        for entry in fields.reversed().lazy.flatMap({ $0.utf8.split(separator: UInt8(ascii: ",")).reversed() }) {
            let text = entry.trimmingBlanks
            guard !text.isEmpty else { continue }
            guard text.count <= longestEntry, let address = IPAddress(forwarded: Substring(text)) else { return nil }
            guard isTrusted(address) else { return address }
            farthest = address
        }
        return farthest
    }
}

extension IPAddress {
    /// Parses an entry, to which some proxies add the port: `203.0.113.7:5678`, `[2001:db8::1]:443`, `[2001:db8::1]`.
    fileprivate init?(forwarded text: Substring) {
        if text.first == "[" {
            guard let end = text.firstIndex(of: "]") else { return nil }
            let rest = text[text.index(after: end)...]
            guard rest.isEmpty || rest.isPort else { return nil }
            let address = text[text.index(after: text.startIndex)..<end]
            // Only IPv6 addresses are in brackets.
            guard address.contains(":") else { return nil }
            self.init(address)
        } else if let colon = text.firstIndex(of: ":"), text.contains("."), text[colon...].isPort {
            self.init(text[..<colon])
        } else {
            self.init(text)
        }
    }
}

extension Substring {
    /// Whether the text is a colon and a 16-bit number.
    fileprivate var isPort: Bool {
        first == ":" && dropFirst().utf8.allSatisfy { ("0"..."9").contains(Unicode.Scalar($0)) }
            && UInt16(dropFirst()) != nil
    }
}

extension Substring.UTF8View {
    /// The text without surrounding spaces and tabs.
    var trimmingBlanks: Substring.UTF8View {
        func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        var text = drop(while: isBlank)
        while let last = text.last, isBlank(last) { text.removeLast() }
        return text
    }
}
