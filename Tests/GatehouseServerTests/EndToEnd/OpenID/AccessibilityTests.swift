import Foundation
import Pages
import Testing

/// Every page in a real browser: axe-core finds nothing, no page scrolls sideways, and none is large.
@Suite(.enabled(if: Chromium.isInstalled, "Debian's package chromium is not installed"))
struct AccessibilityTests {
    // Light pages are shown in a wide window, dark ones as on a phone, which is also how a wide window shows them at
    // 400 %. Only contrast depends on the colours, so the other rules of axe run once.
    @Test func `every page is accessible in every language, in light and dark, and at 320 pixels`() async throws {
        let script = try await Chromium.axe()
        try await Chromium.with { browser in
            _ = try await browser.evaluate("\(script); true")
            for language in PageLanguage.allCases {
                for sample in PageGallery.samples {
                    let name = "\(sample.name) in \(language.rawValue)"
                    let html = PageGallery.page(of: sample, in: language).page.html
                    #expect((1_000...24 * 1024).contains(html.utf8.count), "\(name): \(html.utf8.count) bytes")
                    let inert = html.replacing(/(?s)<script.*?<\/script>|<meta http-equiv="refresh".*?>/, with: "")
                    try await browser.show(inert, width: 1280, dark: false)
                    try await browser.expectNothing(of: "{}", "\(name), light")
                    try await browser.show(inert, width: 320, dark: true)
                    try await browser.expectNothing(of: "{runOnly: ['color-contrast']}", "\(name), dark")
                }
            }
        }
    }

    @Test func `the gallery has a sample of each page`() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../../Sources/Pages/Templates").standardizedFileURL
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        let pages = try files.filter { try String(contentsOf: $0, encoding: .utf8).hasPrefix("{{<layout}}") }
        let templates = Set(pages.map { $0.deletingPathExtension().lastPathComponent })
        #expect(templates.count > 15 && Set(PageGallery.samples.map(\.step.template)) == templates)
        #expect(Set(PageGallery.samples.map(\.name)).count == PageGallery.samples.count)
    }
}
