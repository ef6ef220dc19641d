internal import Mustache
internal import Pages
package import ProviderKit

/// A page of the console.
package struct ConsolePage: Sendable {
    package let template: String
    package var title: String
    /// What the template shows.
    package var values: [String: JSONValue]

    package init(_ template: String, title: String, _ values: [String: JSONValue] = [:]) {
        (self.template, self.title, self.values) = (template, title, values)
    }

    /// The page with what surrounds it on every page.
    package func html(in frame: [String: JSONValue]) -> String {
        var shown = values.merging(frame) { own, _ in own }
        shown["title"] = .string(title)
        shown["style"] = .string(ConsoleAsset.style.path)
        shown["script"] = .string(ConsoleAsset.script.path)
        return ConsoleTemplates.render(template, .object(shown)) ?? ""
    }

    /// The header fields of every page, the content type included.
    ///
    /// With the referrer policy `no-referrer`, a browser would send `Origin: null` with the page's forms.
    package static let headers: [(name: String, value: String)] = [
        ("Content-Type", "text/html; charset=utf-8"), ("Content-Security-Policy", policy),
        ("Cache-Control", "no-store"), ("Referrer-Policy", "same-origin"), ("X-Frame-Options", "DENY"),
        ("Cross-Origin-Opener-Policy", "same-origin"), ("Cross-Origin-Resource-Policy", "same-origin"),
    ]

    private static let policy = [
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'", "connect-src 'self'",
        "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'", "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    ].joined(separator: "; ")
}

/// A file that every page loads, by a name that changes with its content.
package struct ConsoleAsset: Sendable {
    package let path, content, type: String

    package static let style = ConsoleAsset(
        "console", "css", "text/css; charset=utf-8",
        ([Page.style] + EmbeddedFiles.all.filter { $0.key.hasSuffix(".css") }.sorted { $0.key < $1.key }.map(\.value))
            .joined())
    package static let script = ConsoleAsset(
        "console", "js", "text/javascript; charset=utf-8", EmbeddedFiles.all["Templates/console.js"] ?? "")

    private init(_ name: String, _ suffix: String, _ type: String, _ content: String) {
        let hash = Digest.sha256(of: content).prefix(8)
        path = "/console/assets/\(name)-\(Array(hash).hex).\(suffix)"
        (self.content, self.type) = (content, type)
    }
}

/// The parsed templates and texts.
package enum ConsoleTemplates {
    /// The texts by themselves: what has their values in it is escaped by the template that shows it.
    private static let textLibrary = MustacheLibrary(
        templates: texts.compactMapValues { try? MustacheTemplate(string: "{{% CONTENT_TYPE:TEXT}}" + $0) })

    private static let library: MustacheLibrary = {
        var sources = texts
        for (path, content) in EmbeddedFiles.all where path.hasPrefix("Templates/") && path.hasSuffix(".html") {
            sources[String(path.dropFirst("Templates/".count).dropLast(".html".count))] = content
        }
        return .pages(sources)
    }()

    /// All texts by key.
    package static let texts: [String: String] = {
        var texts: [String: String] = [:]
        for (path, content) in EmbeddedFiles.all where path.hasPrefix("Texts/") {
            texts.merge(PageTexts.parse(content)) { $1 }
        }
        return texts
    }()

    /// Renders a template; `nil` if there is none.
    static func render(_ name: String, _ values: JSONValue) -> String? {
        library.getTemplate(named: name) == nil ? nil : library.render(values.shown, withTemplate: name)
    }

    /// A text as it is, without values; `nil` if there is none.
    package static func text(_ key: String) -> String? { texts[key] }

    /// A text with its values; `nil` if there is none.
    package static func text(_ key: String, _ values: JSONValue) -> String? {
        texts[key] == nil ? nil : textLibrary.render(values.shown, withTemplate: key)
    }
}
