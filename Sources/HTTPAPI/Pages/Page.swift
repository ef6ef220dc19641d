/// A page for a browser: complete in itself, with nothing that any other host serves.
struct Page: Sendable {
    let html: String
    let contentSecurityPolicy: String

    /// Everything that goes with it into the response, the content type included.
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

/// Lets a browser run the one script of the response that carries it; never the same in two responses.
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
    /// A page around `main`; the script may not hold `</script`.
    init(
        title: String, main: HTML, style: HTML = "", script: HTML? = nil, nonce: PageNonce, isWide: Bool = false,
        postsToItself: Bool = false
    ) {
        let script = script.map { "<script nonce=\"\(nonce.text)\">\($0)</script>\n" as HTML } ?? ""
        let page: HTML = """
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <meta name="robots" content="noindex">
            <title>\(title)</title>
            <style nonce="\(nonce.text)">\(Self.sharedStyle)\(style)</style>
            </head>
            <body>
            <main class="\(isWide ? "wide" : "narrow")">
            \(main)
            </main>
            \(script)</body>
            </html>

            """
        html = page.markup
        contentSecurityPolicy = Self.policy(
            scriptAllowedBy: script == "" ? nil : nonce, style: "'nonce-\(nonce.text)'",
            forms: postsToItself ? "'self'" : "'none'")
    }

    /// Nothing from anywhere, but for the page's own script and style and its calls to its own server.
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

    private static let sharedStyle: HTML = """

        :root { color-scheme: light dark; --ink: #1c2024; --quiet: #5c6670; --ground: #f4f5f7; --sheet: #fff;
          --line: #d5d9de; --accent: #1f5fd0; --on-accent: #fff; --good: #14713a; --bad: #b3261e; }
        @media (prefers-color-scheme: dark) { :root { --ink: #e8eaed; --quiet: #a3acb5; --ground: #14171a;
          --sheet: #1e2226; --line: #3a4047; --accent: #8ab4ff; --on-accent: #0d1b33; --good: #7fd6a0;
          --bad: #ff9d94; } }
        * { box-sizing: border-box; }
        body { margin: 0; font: 1rem/1.5 system-ui, sans-serif; color: var(--ink); background: var(--ground); }
        main { margin: 0 auto; padding: 1.5rem 1rem 3rem; }
        main.narrow { max-width: 28rem; margin-top: 8vh; padding: 2rem; background: var(--sheet);
          border: 1px solid var(--line); border-radius: .75rem; }
        main.wide { max-width: 64rem; }
        @media (max-width: 30rem) { main.narrow { margin: 0; min-height: 100vh; padding: 1.5rem 1.25rem; border: 0;
          border-radius: 0; } }
        h1 { margin: 0 0 .75rem; font-size: 1.5rem; line-height: 1.25; text-wrap: balance; }
        p { margin: 0 0 1rem; }
        a { color: var(--accent); }
        .quiet { color: var(--quiet); font-size: .9375rem; }
        .good { color: var(--good); }
        .bad { color: var(--bad); }
        .result { margin: 1rem 0 0; font-weight: 600; }
        .result:focus { outline: none; }
        [hidden] { display: none !important; }
        label { display: block; margin: 0 0 .25rem; font-weight: 600; }
        .field { margin: 0 0 1rem; }
        .check label { display: inline; font-weight: 400; }
        input[type=password], input[type=text] { width: 100%; padding: .625rem .75rem; font: inherit; color: inherit;
          background: var(--ground); border: 1px solid var(--quiet); border-radius: .5rem; }
        input[type=checkbox] { width: 1.125rem; height: 1.125rem; margin: 0 .375rem 0 0; vertical-align: -.125rem;
          accent-color: var(--accent); }
        button { width: 100%; padding: .75rem 1rem; font: inherit; font-weight: 600; color: var(--on-accent);
          background: var(--accent); border: 0; border-radius: .5rem; cursor: pointer; }
        button:disabled { opacity: .55; cursor: default; }
        :focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }

        """
}

// MARK: - Errors

extension Page {
    /// Tells a person why there is nothing here for them.
    static func error(title: String, sentence: String, nonce: PageNonce = PageNonce()) -> Page {
        Page(title: title, main: "<h1>\(title)</h1>\n<p>\(sentence)</p>", nonce: nonce)
    }
}
