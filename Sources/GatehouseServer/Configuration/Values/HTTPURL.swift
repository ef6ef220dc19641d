import Foundation
import ProviderKit

extension URLComponents {
    /// An absolute `http` or `https` URL as it is typed, nothing about it repaired.
    init?(http text: String) {
        self.init(string: text, encodingInvalidCharacters: false)
        guard ["http", "https"].contains(scheme?.lowercased()), host?.isEmpty == false else { return nil }
    }

    /// Nothing but scheme, host, port and path.
    var isPlain: Bool {
        user == nil && password == nil && query == nil && fragment == nil
    }
}

extension Expectation<String> {
    static var httpURL: Self {
        .scalar("an absolute http or https URL") { URLComponents(http: $0) == nil ? nil : $0 }
    }

    /// A URL that others are built on by appending paths: no trailing slash remains.
    static var baseURL: Self {
        .scalar("an absolute http or https URL without user, query or fragment") { text in
            guard URLComponents(http: text)?.isPlain == true else { return nil }
            var text = text
            while text.hasSuffix("/") { text.removeLast() }
            return text
        }
    }

    /// A web origin (RFC 6454) in the one form that browsers send: lower case, without a scheme's own port.
    static var origin: Self {
        .scalar("a bare origin as in https://app.example: scheme, host and port, nothing after them") { text in
            guard let url = URLComponents(string: text, encodingInvalidCharacters: false), url.isPlain,
                url.path.isEmpty, let scheme = url.scheme?.lowercased(), scheme != "file",
                let host = url.host?.lowercased(), !host.isEmpty, !host.contains("*")
            else { return nil }
            let port = url.port.flatMap { $0 == ["http": 80, "https": 443][scheme] ? nil : ":\($0)" } ?? ""
            return "\(scheme)://\(host)\(port)"
        }
    }

    /// What a `Host` header says, in lower case.
    static var host: Self {
        .scalar("a host name, with a port where it isn't the scheme's own") { text in
            guard let url = URLComponents(string: "http://\(text)", encodingInvalidCharacters: false), url.isPlain,
                url.path.isEmpty, url.host?.isEmpty == false, !text.contains("*")
            else { return nil }
            return text.lowercased()
        }
    }
}
