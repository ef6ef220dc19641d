/// A URI to which a redirect flow may return, compared character by character (RFC 9700, 2.1).
package struct RedirectURI: Sendable, Hashable {
    package let uri: String
    /// Whether the app must send a code challenge.
    package let requiresPKCE: Bool

    package init(uri: String, requiresPKCE: Bool) { (self.uri, self.requiresPKCE) = (uri, requiresPKCE) }
}
