internal import Mustache

/// A self-contained HTML page, which loads no other files.
struct Page: Sendable {
    let html: String
    let contentSecurityPolicy: String

    /// All header fields of the response, the content type included.
    var headers: [(name: String, value: String)] {
        [
            ("Content-Type", "text/html; charset=utf-8"), ("Content-Security-Policy", contentSecurityPolicy),
            ("Cache-Control", "no-store"), ("Referrer-Policy", "no-referrer"), ("X-Content-Type-Options", "nosniff"),
            ("X-Frame-Options", "DENY"),
        ]
    }
}

/// Allows one response's script and style in its content security policy; each response has its own.
struct PageNonce: Sendable {
    /// 128 bits in hexadecimal.
    let text: String

    init() {
        var generator = SystemRandomNumberGenerator()
        self.init(using: &generator)
    }

    init(using generator: inout some RandomNumberGenerator) {
        text = (0..<2).map { _ in
            let digits = String(generator.next() as UInt64, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }
        .joined()
    }
}

// MARK: - Rendering

extension Page {
    /// The permissions of a page, from which its content security policy is built.
    struct Permissions: OptionSet {
        let rawValue: Int

        /// The page may run its own script, which may call the server that the page came from.
        static let script = Permissions(rawValue: 1)
        /// The page may post its form to that server.
        static let form = Permissions(rawValue: 2)
        /// The page may show mails with inline styles and images: a frame with `srcdoc` inherits the policy of its
        /// page.
        static let mails = Permissions(rawValue: 4)
        /// The page may post its form to any server.
        static let formElsewhere = Permissions(rawValue: 8)
    }

    /// Creates a page from a template in the folder `Templates`; all values are escaped.
    init(_ template: String, _ values: [String: Any] = [:], allowing permissions: Permissions = []) {
        let nonce = PageNonce()
        html = PageTemplates.library.render(values.merging(["nonce": nonce.text]) { $1 }, withTemplate: template) ?? ""
        contentSecurityPolicy = Self.policy(permissions, nonce: nonce)
    }

    /// The content security policy, which allows only the page's own style and what `permissions` contain.
    private static func policy(_ permissions: Permissions, nonce: PageNonce) -> String {
        let rules = [
            "default-src 'none'",
            "script-src \(permissions.contains(.script) ? "'nonce-\(nonce.text)'" : "'none'")",
            "style-src \(permissions.contains(.mails) ? "'unsafe-inline'" : "'nonce-\(nonce.text)'")",
            "img-src \(permissions.contains(.mails) ? "data:" : "'none'")",
            "connect-src \(permissions.contains(.script) ? "'self'" : "'none'")",
            "base-uri 'none'",
            "frame-ancestors 'none'",
        ]
        guard !permissions.contains(.formElsewhere) else { return rules.joined(separator: "; ") }
        let forms = "form-action \(permissions.contains(.form) ? "'self'" : "'none'")"
        return (rules + [forms]).joined(separator: "; ")
    }
}

/// The templates in the folder `Templates`: pages such as `verify-email`, and parts of pages such as `page.css`.
private enum PageTemplates {
    static let library: MustacheLibrary = {
        MustacheContentTypes.register(EscapedHTML(), named: "PAGE")
        var templates: [String: MustacheTemplate] = [:]
        for (path, content) in EmbeddedFiles.all where path.hasPrefix(folder) {
            let name = String(path.dropFirst(folder.count).replacing(".html", with: ""))
            templates[name] = try? MustacheTemplate(string: "{{% CONTENT_TYPE:PAGE}}" + content)
        }
        return MustacheLibrary(templates: templates)
    }()

    private static let folder = "Pages/Templates/"
}

/// Escapes text for elements and for attributes in double quotes.
///
/// The template engine's own type for HTML compares characters instead of Unicode scalars, so it would not escape a
/// quote that is followed by a combining mark.
struct EscapedHTML: MustacheContentType {
    func escapeText(_ text: String) -> String {
        var escaped = ""
        escaped.reserveCapacity(text.utf8.count)
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
