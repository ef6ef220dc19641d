package import Foundation
internal import ProviderKit

package struct Client: Sendable, Equatable {
    package var device: String?
    /// The header `User-Agent`; `device` is the same unless the client names its device.
    package var userAgent: String?
    /// The IP address, as trusted proxies report it.
    package var address: String
    /// The path of the endpoint that the client called, with its placeholders.
    package var route = ""
    /// The beginning of `Accept-Language` (RFC 9110, 12.5.4).
    package let languages: String?
    /// The connection, for calls with expensive work that a disconnect makes unnecessary.
    package var connection: ClientConnection?
    /// The place in the hashing queue, for calls that hash a password.
    package var hashingPlace: HashingPlace?
    /// The cookie that keeps the sessions of a browser; `nil` for an app, which keeps tokens.
    package var cookie: BrowserCookie?
    /// How an app keeps the session that the call opens; not used with a cookie.
    package var renewal = Renewal.refresh
    /// Whether a session with refresh tokens that the call opens ends after `ApplicationPolicy.Tokens.shortSessions`.
    package var opensShortSession = false
    /// The name of the dialect that the client speaks; `nil` for version 1 of the API and for pages.
    package var dialect: String?

    /// Creates a client; ignores `languages` unless all characters are visible ASCII or spaces, as the header requires.
    package init(device: String?, address: String, languages: String? = nil) {
        (self.device, self.address) = (device, address)
        let isPlausible = languages?.utf8.allSatisfy { (0x20...0x7E).contains($0) } == true
        self.languages = isPlausible ? languages.map { String($0.prefix(Self.longestLanguages)) } : nil
    }

    /// The longest stored `languages`, in bytes.
    private static let longestLanguages = 200

    /// The IPv4 address, or a subscriber's IPv6 network: the key of rate limits and of the hashing queue.
    package var network: String { IPAddress(address)?.subscriber ?? address }

    /// The address block that contains the network; one holder of a block can use many networks.
    package var block: String { IPAddress(address)?.block ?? address }
}

/// The cookie under which a browser keeps its sessions, one for each account.
///
/// Each proof replaces the cookie for all sessions of the browser, so that a value that somebody else knew is worth
/// nothing afterwards.
package struct BrowserCookie: Sendable, Equatable {
    /// SHA-256 of the new value.
    package let hash: [UInt8]
    /// SHA-256 of the value that the browser sent, if any.
    package let replaced: [UInt8]?
    /// The id of the session that is opened, unless it is taken; two calls with the same cookie cannot both use it.
    package let session: UUID
    /// The lifetime of the session that is opened.
    package let lifetime: Duration
    /// How long that session may stay unused; `nil` if the browser remembers it.
    package let idle: Duration?

    package init(hash: [UInt8], replacing replaced: [UInt8]?, session: UUID, lifetime: Duration, idle: Duration?) {
        (self.hash, self.replaced, self.session) = (hash, replaced, session)
        (self.lifetime, self.idle) = (lifetime, idle)
    }
}
