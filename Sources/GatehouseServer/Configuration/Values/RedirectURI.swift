import Accounts
import Foundation

extension Expectation<RedirectURI> {
    /// A URI alone, or `{ uri: …, pkce: false }`.
    static var redirectURI: Self {
        Self { located in
            guard case .table = located.node.content else {
                return Expectation<String>.absoluteURI.read(located).map { RedirectURI(uri: $0, requiresPKCE: true) }
            }
            return Self.table { table in
                let pkce = table.read("pkce", .flag, default: true)
                return table.required("uri", .absoluteURI).map { RedirectURI(uri: $0, requiresPKCE: pkce) }
            }.read(located)
        }
    }
}

extension Expectation<String> {
    /// RFC 6749, 3.1.2: absolute and without a fragment.
    ///
    /// Schemes that run what they carry are out.
    fileprivate static var absoluteURI: Self {
        .scalar("an absolute URI without a fragment") { text in
            guard let url = URLComponents(string: text, encodingInvalidCharacters: false), let scheme = url.scheme,
                !["javascript", "data", "vbscript", "file", "about", "blob"].contains(scheme.lowercased()),
                url.fragment == nil, text.utf8.count > scheme.utf8.count + 1
            else { return nil }
            return text
        }
    }
}
