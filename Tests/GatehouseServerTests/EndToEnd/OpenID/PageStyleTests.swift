import Foundation
import NIOHTTP1
import Testing

@testable import GatehouseServer

/// The picture and the colours that an operator gives the pages.
struct PageStyleTests {
    @Test func `pages show the application's picture and colours, and load nothing else`() async throws {
        let svg = #"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><script>alert(1)</script></svg>"#
        let file = FileManager.default.temporaryDirectory.appending(path: "logo-\(UUID().uuidString).svg")
        try Data(svg.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let pages = """
              pages:
                logo: "file:\(file.path)"
                colours: { accent: "#7a1fd0", accentDark: "#d9b8ff" }

            """
        let configuration = RelyingParty.configuration.replacing("openid:\n", with: "openid:\n\(pages)")
        try await TestServer.with(application: configuration) { server in
            var browser = PageBrowser(server)
            let page = try await browser.begin(RelyingParty(server))
            #expect(page.text.contains("<img src=\"\(PageBrowser.issuer)/pages/logo\" alt=\"\">"))
            #expect(page.text.contains("--accent: #7a1fd0;") && page.text.contains("--accent: #d9b8ff;"))
            #expect(
                page.answer.headers.first(name: "content-security-policy")?.contains("img-src 'self' data:;") == true)
            let picture = try await APIClient(server).send(.GET, "/pages/logo")
            #expect(picture.status == 200 && picture.text == svg)
            #expect(picture.headers.first(name: "content-type") == "image/svg+xml")
            // Opened by itself, the picture runs no script.
            #expect(picture.headers.first(name: "content-security-policy")?.contains("sandbox") == true)
        }
    }

    @Test func `without a picture there is none`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let picture = try await APIClient(server).send(.GET, "/pages/logo")
            #expect(picture.status == 404)
        }
    }
}
