/// A page for a browser, complete in itself: it loads nothing from any host.
struct Page: Sendable {
    let html: String
    let contentSecurityPolicy: String

    /// The headers of its response, `Content-Type` included.
    var headers: [(name: String, value: String)] {
        [
            ("Content-Type", "text/html; charset=utf-8"),
            ("Content-Security-Policy", contentSecurityPolicy),
            ("Cache-Control", "no-store"),
            ("Referrer-Policy", "no-referrer"),
            ("X-Content-Type-Options", "nosniff"),
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

extension Page {
    /// Puts `main` into the layout.
    ///
    /// The script must not contain `</script`.
    init(
        title: String, main: HTML, style: HTML = "", script: HTML? = nil, nonce: PageNonce, isWide: Bool = false,
        postsToItself: Bool = false
    ) {
        let script = script.map { "<script nonce=\"\(nonce.text)\">\n\($0)</script>\n" as HTML } ?? ""
        let page = HTML(
            file: "layout.html",
            [
                "title": "\(title)", "nonce": "\(nonce.text)", "style": HTML(file: "shared.css") + style,
                "width": isWide ? "wide" : "narrow", "main": main, "script": script,
            ])
        html = page.markup
        contentSecurityPolicy = Self.policy(
            scriptAllowedBy: script == "" ? nil : nonce, style: "'nonce-\(nonce.text)'",
            forms: postsToItself ? "'self'" : "'none'")
    }

    /// Allows only the page's own script and style, and calls to its own server.
    static func policy(
        scriptAllowedBy nonce: PageNonce?, style: String, images: String = "'none'", forms: String = "'none'"
    ) -> String {
        [
            "default-src 'none'",
            nonce.map { "script-src 'nonce-\($0.text)'" } ?? "script-src 'none'",
            "style-src \(style)",
            "img-src \(images)",
            nonce == nil ? "connect-src 'none'" : "connect-src 'self'",
            "base-uri 'none'",
            "form-action \(forms)",
            "frame-ancestors 'none'",
        ]
        .joined(separator: "; ")
    }
}
