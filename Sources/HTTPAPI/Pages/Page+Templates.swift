internal import Mustache
internal import Pages

extension Page {
    /// Creates a page from a template in the folder `Templates`; all values are escaped.
    init(_ template: String, _ values: [String: Any] = [:], allowing permissions: Permissions = []) {
        let nonce = PageNonce()
        let values = values.merging(["nonce": nonce.text]) { $1 }
        self.init(
            html: PageTemplates.library.render(values, withTemplate: template) ?? "", nonce: nonce,
            allowing: permissions)
    }
}

/// The templates in the folder `Templates`: pages such as `verify-email`, and parts of pages.
private enum PageTemplates {
    static let library: MustacheLibrary = {
        MustacheContentTypes.register(EscapedHTML(), named: "PAGE")
        var templates: [String: MustacheTemplate] = [:]
        for (path, content) in EmbeddedFiles.all where path.hasPrefix(folder) {
            let name = String(path.dropFirst(folder.count).replacing(".html", with: ""))
            templates[name] = try? MustacheTemplate(string: "{{% CONTENT_TYPE:PAGE}}" + content)
        }
        templates["page.css"] = try? MustacheTemplate(string: Page.style)
        return MustacheLibrary(templates: templates)
    }()

    private static let folder = "Pages/Templates/"
}
