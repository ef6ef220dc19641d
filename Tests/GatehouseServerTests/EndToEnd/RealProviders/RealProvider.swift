import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import Testing

/// A real OpenID provider that runs as a separate process on a free port of 127.0.0.1.
struct RealProvider: Sendable {
    /// The provider's URL and issuer.
    let issuer: String
    let process: GatehouseProcess

    /// Returns the callback URL of each `TestServer` for the provider of this name.
    static func callback(_ provider: String) -> String {
        "http://127.0.0.1:1/api/v1/auth/oauth/\(provider)/callback"
    }

    /// Starts the provider, runs the body once it responds, and stops it afterwards.
    static func with<Output>(
        _ arguments: [String], of programs: PythonPrograms, port: Int, in home: ProcessDirectory,
        _ body: (RealProvider) async throws -> Output
    ) async throws -> Output {
        let issuer = "http://127.0.0.1:\(port)"
        return try await GatehouseProcess.with(arguments, program: programs.python, in: home) { process in
            let provider = RealProvider(issuer: issuer, process: process)
            try await eventually("the provider answers", within: .seconds(60)) {
                try #require(process.isRunning, "\(process.output)\n\(process.errors)")
                return await provider.isUp
            }
            return try await body(provider)
        }
    }

    private var isUp: Bool {
        get async {
            let request = HTTPClientRequest(url: issuer + "/.well-known/openid-configuration")
            return (try? await HTTPClient.shared.execute(request, timeout: .seconds(5)))?.status == .ok
        }
    }

    /// Stops the process.
    func kill() async throws { _ = try await process.end(by: SIGKILL) }
}

extension RedirectClient {
    /// Follows a browser from the authorization URL through the provider's pages, with `visit`, and back to the
    /// callback; returns the query of the redirect to the app.
    func travel(
        with browser: inout Browser, _ visit: (inout Browser) async throws -> Void
    ) async throws -> URLComponents {
        let flow = try await begin(["mode": "redirect"])
        try await browser.open(flow.url)
        try await visit(&browser)
        return try await arrive(flow, from: browser).redirect
    }

    /// Returns the callback's response to a browser.
    func arrive(_ flow: Flow, from browser: Browser) async throws -> APIClient.Answer {
        var place = browser.url
        place.query = nil
        try #require(place.string == RealProvider.callback(provider), "\(browser.url)\n\(browser.page)")
        let cookie = try #require(flow.cookie)
        return try await api.send(
            .GET, "\(place.path)?\(browser.url.percentEncodedQuery ?? "")", headers: ["cookie": cookie])
    }
}
