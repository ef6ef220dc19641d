import Hummingbird
import Testing

@testable import HTTPAPI

/// The endpoint of a path, found without the router.
struct EndpointPathsTests {
    private let paths = EndpointPaths(
        ["/a", "/a/{id}", "/a/{id}/b", "/c/{x}/{y}", "/{z}/d"].map { path in
            .open(path, "A path") { _ in Response(status: .ok) }
        })

    @Test(arguments: [
        ("/a", "/a"), ("/a/1", "/a/{id}"), ("/a/1/", "/a/{id}"), ("/a/1/b", "/a/{id}/b"), ("/c/1/2", "/c/{x}/{y}"),
        ("/e/d", "/{z}/d"), ("/", nil), ("/b", nil), ("/a/1/c", nil), ("/c/1/2/3", nil), ("/e/f", nil),
    ])
    func `a parameter takes one part of the path`(path: String, endpoint: String?) {
        #expect(paths.serving(path)?.path == endpoint)
    }

    @Test func `no part of a long path is compared`() {
        let id = String(repeating: "x", count: EndpointPaths.longest - 3)
        #expect(paths.serving("/a/\(id)")?.path == "/a/{id}")
        #expect(paths.serving("/a/x\(id)") == nil)
    }
}
