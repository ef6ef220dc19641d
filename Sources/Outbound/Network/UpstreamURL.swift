internal import Foundation
internal import ProviderKit

/// An absolute `http` or `https` URL (RFC 3986), parsed so strictly that all parsers agree on its host.
struct UpstreamURL: Sendable, Equatable {
    let isSecure: Bool
    /// The host in lower case, without brackets and without a trailing dot.
    let host: String
    let port: Int
    /// Path and query; it begins with a slash.
    let target: String

    /// - Returns: `nil` for other schemes, credentials, names that are not ASCII, and everything that parsers treat in
    ///   different ways.
    init?(_ text: String) {
        guard Self.isPlain(text), let schemeEnd = text.range(of: "://") else { return nil }
        switch text[..<schemeEnd.lowerBound].lowercased() {
        case "http": isSecure = false
        case "https": isSecure = true
        default: return nil
        }
        let rest = text[schemeEnd.upperBound...]
        let authority = rest.prefix { !"/?#".contains($0) }
        guard let (host, port) = Self.read(authority) else { return nil }
        self.host = host
        self.port = port ?? (isSecure ? 443 : 80)
        let target = rest[authority.endIndex...].prefix { $0 != "#" }
        self.target = target.hasPrefix("/") ? String(target) : "/" + target
    }

    /// The URL as it is sent, without a fragment.
    var text: String { origin + target }

    /// Scheme, host and port.
    var origin: String { "\(isSecure ? "https" : "http")://\(hostInURL):\(port)" }

    /// Host and port, which identify the upstream in the log and as a key.
    var upstream: String { "\(hostInURL):\(port)" }

    /// The host in the HTTP client's format, with brackets around an IPv6 address.
    var hostInURL: String { host.contains(":") ? "[\(host)]" : host }

    /// The target of a redirect, or `nil` if it has another origin.
    func following(location: String) -> UpstreamURL? {
        guard Self.isPlain(location), let base = URL(string: text), let url = URL(string: location, relativeTo: base),
            let next = UpstreamURL(url.absoluteString), next.origin == origin
        else { return nil }
        return next
    }

    /// Characters that are not allowed in URLs and that parsers repair in different ways.
    private static let ambiguous = Set("\\\"<>^`{|}".utf8)

    private static func isPlain(_ text: String) -> Bool {
        text.utf8.count <= 8192 && text.utf8.allSatisfy { (0x21...0x7E).contains($0) && !ambiguous.contains($0) }
    }

    private static func read(_ authority: Substring) -> (host: String, port: Int?)? {
        var name = authority
        var port: Int?
        if let colon = authority.lastIndex(of: ":"), !authority.hasSuffix("]") {
            let digits = authority[authority.index(after: colon)...]
            guard !digits.isEmpty, digits.utf8.allSatisfy(\.isASCIIDigit), let number = Int(digits),
                (1...65535).contains(number)
            else { return nil }
            name = authority[..<colon]
            port = number
        }
        if name.hasPrefix("["), name.hasSuffix("]") {
            let literal = name.dropFirst().dropLast()
            guard literal.contains(":"), let address = IPAddress(String(literal)) else { return nil }
            return (address.description, port)
        }
        if name.hasSuffix(".") { name = name.dropLast() }
        guard !name.isEmpty, name.utf8.count <= 253, !name.hasPrefix("."), !name.hasSuffix("."),
            name.utf8.allSatisfy({ $0.isASCIILetterOrDigit || "-._".utf8.contains($0) })
        else { return nil }
        return (name.lowercased(), port)
    }
}
