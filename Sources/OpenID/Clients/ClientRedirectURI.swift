internal import Foundation
internal import ProviderKit

/// A registered redirect URI, which is compared byte for byte.
///
/// One exception is that of RFC 8252, 7.3: a loopback address that is registered without a port matches every port.
package struct ClientRedirectURI: Sendable, Equatable {
    /// Why a URI can't be registered.
    package enum Fault: Error, Equatable { case malformed, fragment, user, wildcard, scheme, plainHTTP }

    package let text: String
    let host: String?
    /// The host, or the scheme of an app on a device, with its colon: a scheme may be a famous host's name.
    var destination: String { host ?? text.prefix { $0 != ":" } + ":" }
    /// Whether only an app on a device can receive it: its scheme is private, or its host is a loopback address.
    let isOfNativeApp: Bool
    /// The text around the place of the port, if every port matches.
    private let aroundPort: (prefix: String, rest: String)?

    package init(_ text: String) throws(Fault) {
        guard text.hasCharactersOfURL else { throw .malformed }
        guard !text.contains("#") else { throw .fragment }
        guard !text.contains("*") else { throw .wildcard }
        guard let url = URLComponents(string: text, encodingInvalidCharacters: false), let scheme = url.scheme else {
            throw .malformed
        }
        guard url.user == nil, url.password == nil else { throw .user }
        self.text = text
        let host = url.host?.lowercased() ?? ""
        // Pages name the host in their `Content-Security-Policy`, where `;` would begin another directive.
        guard host.utf8.allSatisfy({ $0.isASCIILetterOrDigit || "-._:[]".utf8.contains($0) }) else { throw .malformed }
        switch scheme {
        case "https":
            guard !host.isEmpty else { throw .malformed }
            self.host = host
            (isOfNativeApp, aroundPort) = (false, nil)
        case "http":
            guard host.isLoopbackHost else { throw .plainHTTP }
            self.host = host
            isOfNativeApp = true
            aroundPort = url.port == nil ? Self.split(text) : nil
        default:
            guard scheme.contains("."), scheme.utf8.allSatisfy({ $0.isASCIILetterOrDigit || "+-.".utf8.contains($0) })
            else { throw .scheme }
            self.host = nil
            (isOfNativeApp, aroundPort) = (true, nil)
        }
    }

    private static func split(_ text: String) -> (String, String)? {
        for prefix in ["http://127.0.0.1", "http://[::1]"] where text.hasPrefix(prefix + "/") {
            return (prefix, String(text.dropFirst(prefix.count)))
        }
        return nil
    }

    func matches(_ uri: String) -> Bool {
        if uri.hasSameBytes(as: text) { return true }
        guard let (prefix, rest) = aroundPort, uri.utf8.starts(with: "\(prefix):".utf8) else { return false }
        let port = uri.utf8.dropFirst(prefix.utf8.count + 1)
        let digits = port.prefix(while: \.isASCIIDigit)
        guard let number = Int(String(Substring(digits))), (1...65535).contains(number), digits.count <= 5,
            digits.first != UInt8(ascii: "0")
        else { return false }
        return port[digits.endIndex...].elementsEqual(rest.utf8)
    }

    package static func == (one: Self, other: Self) -> Bool { one.text.hasSameBytes(as: other.text) }
}

extension String {
    /// Whether the text has at most 2048 bytes, all of them printable ASCII other than space and backslash.
    var hasCharactersOfURL: Bool {
        utf8.count <= 2048 && utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\\") }
    }
}
