internal import Mustache
internal import Pages

extension Page {
    /// Creates a page from a template in the folder `Templates`; all values are escaped.
    init(_ template: String, _ values: [String: Any] = [:], allowing permissions: Permissions = []) {
        let nonce = PageNonce()
        let values = values.merging(["nonce": nonce.text]) { $1 }
        self.init(
            html: Self.templates.render(values, withTemplate: template) ?? "", nonce: nonce, allowing: permissions,
            // Without a referrer the browser would not name the origin of a form either.
            referrerPolicy: permissions.contains(.form) ? "same-origin" : "no-referrer")
    }

    /// The templates in the folder `Templates`: pages such as `inbox`, and parts of pages.
    private static let templates: MustacheLibrary = {
        let folder = "Development/Templates/"
        var sources = ["page.css": style]
        for (path, content) in EmbeddedFiles.all where path.hasPrefix(folder) {
            sources[String(path.dropFirst(folder.count).replacing(".html", with: ""))] = content
        }
        return .pages(sources)
    }()
}
