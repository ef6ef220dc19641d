import NIOHTTP1
import OpenID
import ProviderKit
import Testing

@testable import GatehouseServer

/// A public URL with a path, which the proxy before the server removes.
struct PublicPathTests {
    private static let path = "/base"
    private static let token = String(repeating: "A", count: 43)

    /// Each application, and its path in the public URL.
    private static let applications = [(nil, path), ("photos", "\(path)/apps/photos")] as [(String?, String)]

    /// The redirect goes to the same page without the token, and the cookie, which has the token, to that page alone.
    @Test(arguments: [false, true])
    func `the pages of mailed links stay below the path`(hasOpenID: Bool) async throws {
        let openID = hasOpenID ? "openid: {}" : ""
        let photos = TestServer.photos + "\n    \(openID)"
        try await TestServer.with(path: Self.path, application: openID, others: photos) { server in
            for (application, path) in Self.applications {
                for page in MailedLinks.Purpose.allCases.map({ "/\($0.rawValue)" }) {
                    let api = APIClient(server, application: application)
                    let moved = try await api.send(.GET, "\(page)?token=\(Self.token)")
                    let place = (hasOpenID ? PageBrowser.issuer : "") + path + page
                    #expect(moved.status == 303 && moved.headers.first(name: "location") == place)
                    let cookie = "gatehouse-link-\(application ?? "demo")=\(Self.token); Path=\(path)\(page); "
                    #expect(moved.headers.first(name: "set-cookie")?.hasPrefix(cookie) == true, "\(moved.headers)")
                }
            }
        }
    }

    @Test(arguments: ["photos.example", "127.0.0.1:8443"])
    func `a host of an application's own has no path`(host: String) async throws {
        let photos = TestServer.photos.replacing("hosts: [photos.example]", with: "hosts: [\"\(host)\"]")
        try await TestServer.with(path: Self.path, others: photos) { server in
            let moved = try await APIClient(server).send(
                .GET, "/reset-password?token=\(Self.token)", headers: ["host": host])
            #expect(moved.headers.first(name: "location") == "/reset-password")
            let cookie = "gatehouse-link-photos=\(Self.token); Path=/reset-password; "
            #expect(moved.headers.first(name: "set-cookie")?.hasPrefix(cookie) == true, "\(moved.headers)")
        }
    }

    /// Of an application that is reached at the server's URL and at a host of its own, whichever is its issuer.
    @Test(arguments: ["", "publicURL: https://demo.example"])
    func `the default application has the path at the server's host only`(publicURL: String) async throws {
        let application = "hosts: [demo.example]\n\(publicURL)"
        try await TestServer.with(path: Self.path, application: application) { server in
            for (host, path) in [("demo.example", ""), ("127.0.0.1", Self.path)] {
                let manifest = try await APIClient(server).send(
                    .GET, "/client/manifest.json", headers: ["host": host])
                let copy = try #require(manifest["gatehouse.js"].string)
                #expect(copy.hasPrefix("\(path)/client/"), "\(host): \(copy)")
            }
        }
    }

    @Test func `the receipt of a deletion and the copies of the client are below the path`() async throws {
        try await TestServer.with(path: Self.path, others: TestServer.photos) { server in
            for (application, path) in Self.applications {
                let api = APIClient(server, application: application)
                let deleted = try await api.delete("/auth/account", bearer: try await api.guest().accessToken)
                let location = try #require(deleted.headers.first(name: "location"))
                #expect(location.hasPrefix("\(path)/api/v1/erasures/"), "\(location)")
                #expect(try await api.send(.GET, String(location.dropFirst(path.count))).status == 200)
                let manifest = try await api.send(.GET, "/client/manifest.json")
                let copy = try #require(manifest["gatehouse.js"].string)
                #expect(copy.hasPrefix("\(path)/client/"), "\(copy)")
                #expect(try await api.send(.GET, String(copy.dropFirst(path.count))).status == 200)
            }
        }
    }
}
