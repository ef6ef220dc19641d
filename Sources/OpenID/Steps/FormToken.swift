internal import Accounts
internal import ProviderKit

/// Ties a form to the browser that got it, to its page, and to what the page showed.
///
/// A form of another site or browser has no valid token. A token whose page has changed since is valid but not
/// current; the browser then gets the present page instead of an error.
///
/// Each time that a page is shown its token is another, so that a form that is sent twice is recognised.
struct FormToken: Sendable {
    let opaque: any OpaqueTokens
    let flow: OpaqueToken
    let path: String

    func text(showing content: String) -> String {
        let shown = "\(mark(content)).\(opaque.make().text)"
        return "\(shown).\(signature(of: shown))"
    }

    /// Whether the token was made for this page in this browser.
    func isValid(_ text: String) -> Bool {
        guard let end = text.utf8.lastIndex(of: UInt8(ascii: ".")) else { return false }
        let signature = signature(of: String(text[..<end]))
        return ConstantTime.areEqual(Array(signature.utf8), Array(text.utf8[end...].dropFirst()))
    }

    /// Whether the page of a valid token showed this content.
    func isCurrent(_ text: String, showing content: String) -> Bool { text.hasPrefix("\(mark(content)).") }

    func mark(_ content: String) -> String {
        Digest.base64URL(opaque.pseudonym(of: content, purpose: "content of a form").prefix(12))
    }

    private func signature(of shown: String) -> String {
        Digest.base64URL(opaque.pseudonym(of: "\(flow.text)\n\(path)\n\(shown)", purpose: "form"))
    }
}
