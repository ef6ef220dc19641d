internal import Foundation
internal import ProviderKit

/// The cookie that binds a flow to its browser, with a name of its own, so that several flows can run concurrently.
package struct FlowCookie: Sendable {
    package let name, value: String
    /// The path of the provider's callback in the public URL, including a prefix that a proxy may remove; `/` for a flow
    /// that ends at a page of the server's own.
    package let path: String

    init(for state: OpaqueToken, value: String, provider: String, isOfPage: Bool, in application: Application) {
        let isOfHost = isOfPage && application.isSecure
        name = Self.name(for: state, isOfHost: isOfHost)
        self.value = value
        path = isOfHost ? "/" : URLComponents(string: application.callbackURL(of: provider))?.path ?? "/"
    }

    /// With `isOfHost` a name that browsers accept only from this very host (RFC 6265bis, 4.1.3.2).
    static func name(for state: OpaqueToken, isOfHost: Bool = false) -> String {
        (isOfHost ? "__Host-" : "") + "gatehouse-flow-" + Array(state.hash.prefix(6)).hex
    }
}
