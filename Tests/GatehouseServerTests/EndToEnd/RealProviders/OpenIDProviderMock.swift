import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import ProviderKit
import Testing

/// `oidc-provider-mock`, with the users `jo`, whose address is verified, and `kim`, whose address is not; it accepts
/// any client.
struct OpenIDProviderMock: Sendable {
    let provider: RealProvider

    var issuer: String { provider.issuer }

    static func with<Output>(_ body: (OpenIDProviderMock) async throws -> Output) async throws -> Output {
        let programs = try await PythonPrograms.ready()
        return try await ProcessDirectory.with { home in
            let port = try Port.free()
            let people = [
                #"{"sub":"jo","email":"Jo@example.com","email_verified":true,"name":"Jo Doe"}"#,
                #"{"sub":"kim","email":"kim@example.com","email_verified":false}"#,
            ]
            let arguments =
                [programs.path("oidc-provider-mock"), "-p", "\(port)"] + people.flatMap { ["--user-claims", $0] }
            return try await RealProvider.with(arguments, of: programs, port: port, in: home) { provider in
                try await body(OpenIDProviderMock(provider: provider))
            }
        }
    }

    /// Returns an ID token as an app's own SDK would get it, from the issuer's token endpoint for a code.
    func idToken(of person: String, client: String = "client", nonce: String? = nil) async throws -> String {
        let back = "demo://sdk"
        let place = (issuer + "/oauth2/authorize").addingQuery([
            "response_type": "code", "client_id": client, "redirect_uri": back, "scope": "openid email profile",
            "state": "s", "nonce": nonce,
        ])
        var browser = Browser()
        try await browser.open(try #require(URLComponents(string: place)))
        try await browser.submit(["sub": person])
        let code = try #require(browser.url.query("code"))
        var request = HTTPClientRequest(url: issuer + "/oauth2/token")
        request.method = .POST
        request.headers.add(name: "content-type", value: "application/x-www-form-urlencoded")
        let form = [
            "grant_type": "authorization_code", "code": code, "redirect_uri": back, "client_id": client,
            "client_secret": "secret",
        ]
        let text = form.map { "\($0.key)=\($0.value.formEncoded)" }.joined(separator: "&")
        request.body = .bytes(Array(text.utf8))
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(30))
        let body = String(buffer: try await response.body.collect(upTo: 1 << 20))
        let answer = try JSONDecoder().decode(JSONValue.self, from: Data(body.utf8))
        return try #require(answer["id_token"].string, "\(body)")
    }
}
