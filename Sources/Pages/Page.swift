internal import Mustache
internal import ProviderKit

/// An HTML page that loads no other files, except the picture that its policy names.
package struct Page: Sendable {
    package let html: String
    package let contentSecurityPolicy: String
    /// With `same-origin`, the browser names the page's origin when it posts the page's form.
    private let referrerPolicy: String

    /// The header fields of the response that pages have, the content type included.
    package var headers: [(name: String, value: String)] {
        [
            ("Content-Type", "text/html; charset=utf-8"), ("Content-Security-Policy", contentSecurityPolicy),
            ("Cache-Control", "no-store"), ("Referrer-Policy", referrerPolicy),
            ("X-Frame-Options", "DENY"),
        ]
    }
}

/// Allows one response's script and style in its content security policy; each response has its own.
package struct PageNonce: Sendable {
    /// 128 bits in hexadecimal.
    package let text = [UInt64.random(in: .min ... .max), .random(in: .min ... .max)].withUnsafeBytes(\.hex)

    package init() {}
}

// MARK: - Rendering

extension Page {
    /// The permissions of a page, from which its content security policy is built.
    package struct Permissions: OptionSet, Sendable {
        package let rawValue: Int

        package init(rawValue: Int) { self.rawValue = rawValue }

        /// The page may run its own script, which may call the server that the page came from.
        package static let script = Permissions(rawValue: 1)
        /// The page may post its form to that server.
        package static let form = Permissions(rawValue: 2)
        /// The page may show mails with inline styles and images: a frame with `srcdoc` inherits the policy of its
        /// page.
        package static let mails = Permissions(rawValue: 4)
        /// The page may post its form to any server.
        package static let formElsewhere = Permissions(rawValue: 8)
    }

    /// Creates a page of finished HTML, whose style and script have the nonce.
    ///
    /// `formTargets` are sources besides `'self'` to which a form may redirect the browser; `image` is the URL of the
    /// only picture of another server that the page may load.
    package init(
        html: String, nonce: PageNonce, allowing permissions: Permissions = [], formTargets: [String] = [],
        image: String? = nil, referrerPolicy: String = "no-referrer"
    ) {
        (self.html, self.referrerPolicy) = (html, referrerPolicy)
        contentSecurityPolicy = Self.policy(permissions, nonce: nonce, formTargets: formTargets, image: image)
    }

    /// The style sheet of all pages.
    package static let style = EmbeddedFiles.all["Templates/page.css"] ?? ""

    /// The content security policy, which allows only the page's own style and what `permissions` contain.
    private static func policy(
        _ permissions: Permissions, nonce: PageNonce, formTargets: [String], image: String?
    ) -> String {
        let pictures = permissions.contains(.mails) ? ["data:"] : ["'self'", "data:"] + [image].compactMap(\.self)
        let rules = [
            "default-src 'none'",
            "style-src \(permissions.contains(.mails) ? "'unsafe-inline'" : "'nonce-\(nonce.text)'")",
            "script-src \(permissions.contains(.script) ? "'nonce-\(nonce.text)'" : "'none'")",
            "img-src \(pictures.joined(separator: " "))",
            "connect-src \(permissions.contains(.script) ? "'self'" : "'none'")",
            "base-uri 'none'",
            "frame-ancestors 'none'",
        ]
        guard !permissions.contains(.formElsewhere) else { return rules.joined(separator: "; ") }
        let forms = permissions.contains(.form) ? (["'self'"] + formTargets).joined(separator: " ") : "'none'"
        return (rules + ["form-action \(forms)"]).joined(separator: "; ")
    }
}

/// The template engine's own type for HTML escapes characters instead of Unicode scalars.
struct EscapedHTML: MustacheContentType {
    func escapeText(_ text: String) -> String { text.escapedHTML }
}
