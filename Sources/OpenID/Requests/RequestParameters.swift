internal import ProviderKit

/// The parameters of a request to an OAuth endpoint, before they are checked.
package struct RequestParameters: Sendable {
    private let values: [String: [String]]

    /// Creates parameters from all values of each name; an empty value counts as absent (RFC 6749, 3.1).
    package init(_ values: [String: [String]]) {
        self.values = values.compactMapValues { all in
            let present = all.filter { !$0.isEmpty }
            return present.isEmpty ? nil : present
        }
    }

    /// The only value; `nil` if it is absent or sent more than once.
    package subscript(name: String) -> String? {
        guard let all = values[name], all.count == 1 else { return nil }
        return all[0]
    }

    package func all(_ name: String) -> [String] { values[name] ?? [] }

    private static let bounds: KeyValuePairs = [
        "state": 2048, "nonce": 512, "redirect_uri": 2048, "post_logout_redirect_uri": 2048, "scope": 1024,
        "login_hint": 320, "claims": 4096,
    ]

    /// Refuses long parameters, and those that are sent more than once; only `resource` may be (RFC 8707, 2).
    package func check() throws(OAuthError) {
        guard !values.contains(where: { $0.key != "resource" && $0.value.count > 1 }) else {
            throw .invalidRequest("A parameter is sent more than once")
        }
        for (name, bound) in Self.bounds where (self[name]?.utf8.count ?? 0) > bound {
            throw .invalidRequest("\(name) is longer than \(bound) bytes")
        }
    }

    package func required(_ name: String) throws(OAuthError) -> String {
        guard let value = self[name] else { throw .invalidRequest("\(name) is missing") }
        return value
    }

    /// The space-separated words of a parameter, without repeated ones.
    package func words(_ name: String) -> [String] { self[name]?.spacedWords ?? [] }
}

extension String {
    /// The first 512 words between spaces, without repeated ones.
    var spacedWords: [String] {
        var words: [String] = []
        for word in utf8.split(separator: UInt8(ascii: " ")).prefix(512) {
            let word = String(Substring(word))
            if !words.containsBytes(of: word) { words.append(word) }
        }
        return words
    }
}
