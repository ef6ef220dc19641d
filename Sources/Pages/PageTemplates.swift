package import Mustache

extension MustacheLibrary {
    /// Parses templates by name; all values are escaped as HTML.
    package static func pages(_ sources: [String: String]) -> MustacheLibrary {
        MustacheContentTypes.register(EscapedHTML(), named: "PAGE")
        return MustacheLibrary(
            templates: sources.compactMapValues { try? MustacheTemplate(string: "{{% CONTENT_TYPE:PAGE}}" + $0) })
    }
}

/// The parsed templates and texts of one language.
struct PageTemplates: Sendable {
    private let library: MustacheLibrary

    static let all = Dictionary(uniqueKeysWithValues: PageLanguage.allCases.map { ($0, PageTemplates($0)) })

    private init(_ language: PageLanguage) {
        var sources = Self.texts(of: language)
        for (path, content) in EmbeddedFiles.all where path.hasPrefix("Templates/") {
            sources[String(path.dropFirst("Templates/".count).replacing(".html", with: ""))] = content
        }
        library = .pages(sources)
    }

    /// Renders a template or a text; `nil` if there is none.
    func render(_ name: String, _ values: [String: Any]) -> String? {
        library.getTemplate(named: name) == nil ? nil : library.render(values, withTemplate: name)
    }

    /// The texts of a language by key.
    static func texts(of language: PageLanguage) -> [String: String] {
        PageTexts.parse(EmbeddedFiles.all["Texts/\(language.rawValue).text"] ?? "")
    }
}

package enum PageTexts {
    /// The texts of a file by key: lines `key = text`, and comments that begin with `#`.
    package static func parse(_ file: String) -> [String: String] {
        var texts: [String: String] = [:]
        for line in file.split(separator: "\n") {
            guard !line.hasPrefix("#"), let equals = line.firstRange(of: " = ") else { continue }
            texts[String(line[..<equals.lowerBound])] = String(line[equals.upperBound...])
        }
        return texts
    }
}
