internal import Accounts
internal import ProviderKit

/// The URI of an app, without the number of slashes after the scheme: apps rewrite `x:///y` to `x://y` and back.
///
/// Web URIs are compared byte for byte, because the slashes of their hosts are never rewritten.
struct AppURI: Sendable, Hashable {
    private let bytes: [UInt8]

    /// Creates the URI; without a scheme or with more than three slashes after it, it equals only itself.
    init(_ uri: String) {
        let scheme = Array(uri.utf8.prefix { $0 != UInt8(ascii: ":") })
        let rest = Array(uri.utf8.dropFirst(scheme.count + 1))
        let slashes = rest.prefix { $0 == UInt8(ascii: "/") }.count
        let isWeb = [Array("http".utf8), Array("https".utf8)].contains(scheme.map { $0 | 0x20 })
        guard !isWeb, !scheme.isEmpty, (1...3).contains(slashes) else {
            bytes = Array(uri.utf8)
            return
        }
        bytes = scheme + Array(":/".utf8) + rest.dropFirst(slashes)
    }
}

extension Accounts.Application {
    /// The redirect URIs that are registered with PKCE and equal this one except for slashes after the scheme.
    func appURIs(like uri: String) -> [String] {
        let wanted = AppURI(uri)
        return redirectURIs.filter { $0.requiresPKCE && AppURI($0.uri) == wanted }.map(\.uri)
    }
}
