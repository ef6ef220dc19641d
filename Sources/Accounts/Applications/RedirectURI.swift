/// Where a redirect flow may end.
///
/// Compared character by character (RFC 9700, 2.1).
package struct RedirectURI: Sendable, Hashable {
    package let uri: String
    /// Without it, an app that can't make a code challenge may leave it out.
    package let requiresPKCE: Bool

    package init(uri: String, requiresPKCE: Bool) {
        self.uri = uri
        self.requiresPKCE = requiresPKCE
    }
}
