internal import Accounts
internal import ProviderKit

/// Ties a form to the browser that got it, to its page, and to what the page showed.
///
/// A form of another site or browser has no valid token. A token whose page has changed since is valid but not
/// current; the browser then gets the present page instead of an error.
struct FormToken: Sendable {
    let opaque: any OpaqueTokens
    let flow: OpaqueToken
    let path: String

    func text(showing content: String) -> String {
        let mark = mark(content)
        return "\(mark).\(signature(of: mark))"
    }

    /// Whether the token was made for this page in this browser.
    func isValid(_ text: String) -> Bool {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).map {
            Substring($0)
        }
        guard parts.count == 2 else { return false }
        return ConstantTime.areEqual(Array(signature(of: String(parts[0])).utf8), Array(parts[1].utf8))
    }

    /// Whether the page of a valid token showed this content.
    func isCurrent(_ text: String, showing content: String) -> Bool { text.hasPrefix("\(mark(content)).") }

    private func mark(_ content: String) -> String {
        Digest.base64URL(opaque.pseudonym(of: content, purpose: "content of a form").prefix(12))
    }

    private func signature(of mark: String) -> String {
        Digest.base64URL(opaque.pseudonym(of: "\(flow.text)\n\(path)\n\(mark)", purpose: "form"))
    }
}
