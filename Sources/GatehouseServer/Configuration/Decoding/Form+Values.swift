internal import Accounts
internal import Foundation
internal import ProviderKit

extension Form {
    /// Text of at least one character.
    ///
    /// A number or a word like `no` is text too.
    static let text = Form.text("text") { $0.isEmpty ? nil : $0 }

    /// Text that may be empty.
    static let anyText = Form.text("text, which may be empty") { $0 }

    static let flag = choice(["true", "false"], description: "true or false")

    static func choice(_ words: [String], description: String? = nil) -> Form {
        let list = words.count == 1 ? words[0] : "one of \(words.joined(separator: ", "))"
        return .text(description ?? list) { words.contains($0) ? $0 : nil }
    }

    static func choice<Word: RawRepresentable<String>>(_ words: [Word]) -> Form { choice(words.map(\.rawValue)) }

    static func integer<Value: FixedWidthInteger & Sendable>(_ range: ClosedRange<Value>) -> Form {
        .text("a whole number from \(range.lowerBound) to \(range.upperBound)") { text in
            Value(text).flatMap { range.contains($0) ? "\($0)" : nil }
        }
    }

    static func duration(_ range: ClosedRange<Duration>) -> Form {
        let bounds = "\(range.lowerBound.configured) to \(range.upperBound.configured)"
        return .text("a duration from \(bounds) (whole seconds, or 90s, 5m, 2h, 30d)") { text in
            Duration(configured: text).flatMap { range.contains($0) ? "\($0.components.seconds)" : nil }
        }
    }

    static let duration = duration(.zero ... .configuredMaximum)
    static let positiveDuration = duration(.seconds(1) ... .configuredMaximum)

    /// A duration; `off` is null.
    static let durationOrOff = scalar("\(duration.description), or off") { text, node, _ in
        if text == "off" { return node.with(.null) }
        return Duration(configured: text).flatMap { duration in
            duration <= .configuredMaximum ? node.with(.scalar("\(duration.components.seconds)")) : nil
        }
    }

    static let rate = scalar("a rate as in 5/min or 3/h (1 to 1000000 per s, min, h or d), or off") { text, node, _ in
        text == "off" ? node.with(.null) : Rate(configured: text) == nil ? nil : node.with(.scalar(text))
    }

    static let addressRange = Form.text("an IP address or a range as in 10.0.0.0/8") {
        AddressRange($0) == nil ? nil : $0
    }

    static let secret = secret("a secret: text, or file:PATH") { !$0.isEmpty }

    /// A path; a relative path is resolved against the directory of the configuration file.
    static let path = scalar("a path") { text, node, reader in
        text.isEmpty ? nil : node.with(.scalar(reader.absolute(text)))
    }

    /// PEM text, or the path of a file with it.
    static let pem = scalar("the path of a PEM file") { text, node, reader in
        reader.hide(node.place)
        guard !text.isEmpty, !text.hasPrefix("-----BEGIN ") else {
            return text.isEmpty ? nil : node.with(.scalar(text))
        }
        let path = text.hasPrefix("file:") ? String(text.dropFirst("file:".count)) : text
        guard let content = reader.content(ofFile: path, at: node.place) else { throw Reported() }
        return content.contains("-----BEGIN ") ? node.with(.scalar(content)) : nil
    }

    /// A mapping whose keys are names and whose values are texts or empty.
    static let map = Form(description: "a mapping of names to text, or to nothing") { node, reader in
        guard node.isMapping else { return reader.refuse(node, expected: "a mapping") }
        return node.with(
            .table(
                node.entries.compactMap { entry in
                    let value = entry.value.isNull ? entry.value : text.read(entry.value, reader)
                    return value.map { .init(key: entry.key, value: $0) }
                }))
    }
}

// MARK: - URLs

extension Form {
    static let httpURL = Form.text("an absolute http or https URL") { URLComponents(http: $0) == nil ? nil : $0 }

    /// A URL to append paths to, with its scheme in lower case; trailing slashes are removed.
    static let baseURL = Form.text("an absolute http or https URL without user, query or fragment") { text in
        guard URLComponents(http: text)?.isPlain == true else { return nil }
        let scheme = text.prefix { $0 != ":" }
        return scheme.lowercased() + String(text.dropFirst(scheme.count).reversed().drop { $0 == "/" }.reversed())
    }

    /// A web origin (RFC 6454) exactly as browsers send it: in lower case and without the scheme's default port.
    static let origin = Form.text(
        "a bare origin as in https://app.example: scheme, host and port, nothing after them"
    ) { text in
        guard let url = URLComponents(string: text, encodingInvalidCharacters: false), url.isPlain, url.path.isEmpty,
            let scheme = url.scheme?.lowercased(), scheme != "file",
            let host = url.host?.lowercased(), !host.isEmpty, !host.contains("*")
        else { return nil }
        let port = url.port.flatMap { $0 == ["http": 80, "https": 443][scheme] ? nil : ":\($0)" } ?? ""
        return "\(scheme)://\(host)\(port)"
    }

    /// The value of a `Host` header, in lower case.
    static let host = Form.text("a host name, with a port where it isn't the scheme's own") { text in
        guard let url = URLComponents(string: "http://\(text)", encodingInvalidCharacters: false), url.isPlain,
            url.path.isEmpty, url.host?.isEmpty == false, !text.contains("*")
        else { return nil }
        return text.lowercased()
    }

    /// A redirect URI, which is absolute and has no fragment (RFC 6749, 3.1.2).
    ///
    /// Schemes whose URIs contain code that browsers execute are refused.
    static let absoluteURI = Form.text("an absolute URI without a fragment") { text in
        guard let url = URLComponents(string: text, encodingInvalidCharacters: false), let scheme = url.scheme,
            !["javascript", "data", "vbscript", "file", "about", "blob"].contains(scheme.lowercased()),
            url.fragment == nil, text.utf8.count > scheme.utf8.count + 1
        else { return nil }
        return text
    }
}

extension URLComponents {
    /// Parses an absolute `http` or `https` URL; invalid characters are refused instead of percent-encoded.
    init?(http text: String) {
        self.init(string: text, encodingInvalidCharacters: false)
        guard ["http", "https"].contains(scheme?.lowercased()), host?.isEmpty == false else { return nil }
    }

    /// Whether the URL has no parts other than scheme, host, port and path.
    fileprivate var isPlain: Bool { user == nil && password == nil && query == nil && fragment == nil }
}
