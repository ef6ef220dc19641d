import Foundation
import NIOHTTP1
import ProviderKit
import Testing

/// The URL that an app of Immich posts after a sign-in at a provider's pages.
struct ImmichCallbackTests {
    private static let over = "This sign-in is no longer valid. Please try again."

    @Test(arguments: [
        "", "code_challenge_method=S256", "code_challenge=C", "code_challenge=C&code_challenge_method=plain",
        "code_challenge=short&code_challenge_method=S256",
        "code_challenge=C&code_challenge=C&code_challenge_method=S256",
    ])
    func `a flow begins only with a proof key by S256`(query: String) async throws {
        try await ImmichApp.with { server, app in
            let query = query.replacing("=C", with: "=" + CodeChallenge.s256(of: app.verifier))
            let refused = try await app.call(.GET, "/oauth/authorize?state=s&" + query)
            #expect(refused.status == 400 && refused["url"] == .null, "\(refused.text)")
            #expect(refused.headers.first(name: "location") == nil)
            #expect(try await server.count("SELECT count(*) FROM redirect_flows") == 0)
            let posted = try await app.call(
                .POST, "/oauth/authorize", ["redirectUri": .string(ImmichApp.redirectURI), "state": "s"])
            #expect(posted.status == 400, "without a proof key: \(posted.text)")
        }
    }

    @Test func `without a configured redirect URI a request has to name a registered one`() async throws {
        let application = """
            redirectURIs: ["\(ImmichApp.redirectURI)", "https://photos.example/back"]
            dialects: { immich: {} }
            """
        try await ImmichApp.with(application: application) { server, app in
            let challenge = CodeChallenge.s256(of: app.verifier)
            let asked = try await app.call(
                .GET, "/oauth/authorize?code_challenge=\(challenge)&code_challenge_method=S256&state=s")
            let message = "redirectUri is missing, and the application has no default"
            expectImmich(asked, 400, "MISSING_PARAMETER", message)
            expectImmich(try await app.authorize(redirectURI: nil), 400, "MISSING_PARAMETER", message)
            #expect(try await app.authorize(redirectURI: "https://evil.example/back").status == 403)
            #expect(try await server.count("SELECT count(*) FROM redirect_flows") == 0)
            #expect(try await app.authorize().status == 201)
        }
    }

    @Test func `an app signs in at the provider's pages`() async throws {
        try await ImmichApp.with { _, app in
            let challenge = CodeChallenge.s256(of: app.verifier)
            let page = try await app.call(
                .GET, "/oauth/authorize?code_challenge=\(challenge)&code_challenge_method=S256&state=mine")
            #expect(page.status == 200 && page.json.keys == ["url", "state"] && page["state"] == "mine")
            let posted = try await app.authorize()
            #expect(posted.status == 201 && posted.json.keys == ["url"], "\(posted.text)")
            let url = try await app.arrive()
            #expect(url.hasPrefix(ImmichApp.redirectURI + "?code="))
            let answer = try await app.callback(url)
            #expect(answer.status == 201, "\(answer.text)")
            let login = try ImmichModels.decode(ImmichModels.Login.self, from: answer)
            #expect(login.userEmail == "ada@example.com")
            let me = try await app.call(.GET, "/users/me", token: login.accessToken)
            #expect(me["oauthId"] == "ada")
            let again = try await app.callback(url)
            expectImmich(again, 400, "INVALID_TOKEN", Self.over)
        }
    }

    @Test func `the URI may have one, two or three slashes after its scheme`() async throws {
        try await ImmichApp.with { _, app in
            for slashes in ["/", "//", "///"] {
                let begun = try await app.authorize(redirectURI: "app.immich:\(slashes)oauth-callback")
                #expect(begun.status == 201, "\(begun.text)")
                let url = try await app.arrive().replacing("app.immich:///", with: "app.immich:\(slashes)")
                let answer = try await app.callback(url)
                #expect(answer.status == 201, "\(slashes): \(answer.text)")
            }
            for slashes in ["", "////"] {
                let url = try await app.arrive().replacing("app.immich:///", with: "app.immich:\(slashes)")
                let answer = try await app.callback(url)
                #expect(answer.status == 400, "\(slashes): \(answer.text)")
            }
        }
    }

    @Test func `a URL that is not the flow's own is refused, and the code stays good`() async throws {
        try await ImmichApp.with { _, app in
            let url = try await app.arrive()
            let query = try #require(url.split(separator: "?").last)
            let code = try #require(query.split(separator: "&").first)
            for other in [
                "app.immich://oauth-callback.example?\(query)", "https://evil.example/back?\(query)",
                "APP.immich:///oauth-callback?\(query)", "app.immich:///oauth-callback/?\(query)",
                "https:///photos.example/back?\(query)", url + "&\(code)", url + "&state=mine",
                "app.immich:///oauth-callback?\(code)", "app.immich:///oauth-callback", "", "?\(query)",
                url + "&x=" + String(repeating: "a", count: 5 * 1024), url + " ", url + "%zz", url + "\u{E9}",
            ] {
                let answer = try await app.callback(other)
                #expect(answer.status == 400 && answer["code"] == "INVALID_PARAMETER", "\(other): \(answer.text)")
            }
            let state = try await app.callback(url, state: "another")
            expectImmich(state, 400, "INVALID_STATE", Self.over)
            let failed = try await app.callback("app.immich:///oauth-callback?error=access_denied&state=the+state")
            expectImmich(failed, 400, "INVALID_PARAMETER", "OAuth login failed: access_denied")
            let answer = try await app.callback(url + "#code=another", state: "the state")
            #expect(answer.status == 201, "a fragment is ignored: \(answer.text)")
        }
    }

    @Test func `a code is good only with the state and the URI of its flow`() async throws {
        try await ImmichApp.with { _, app in
            let (first, second) = (try await app.arrive(state: "first"), try await app.arrive(state: "second"))
            let swapped = first.replacing("state=first", with: "state=second")
            let mixed = try await app.callback(swapped)
            expectImmich(mixed, 400, "INVALID_STATE", Self.over)
            let moved = second.replacing(ImmichApp.redirectURI, with: "immich://oauth-callback")
            let elsewhere = try await app.callback(moved)
            expectImmich(elsewhere, 400, "INVALID_TOKEN", Self.over)
        }
    }

    @Test(arguments: [(42, 400), (43, 201), (128, 201), (129, 400)])
    func `a verifier has 43 to 128 characters`(length: Int, status: Int) async throws {
        try await ImmichApp.with { _, app in
            var app = app
            app.verifier = String(repeating: "v", count: length)
            let url = try await app.arrive()
            let answer = try await app.callback(url)
            #expect(answer.status == status, "\(answer.text)")
            if status == 400 { expectImmich(answer, 400, "INVALID_TOKEN", Self.over) }
        }
    }

    @Test func `a flow begins only with a proof key and a registered URI`() async throws {
        try await ImmichApp.with { _, app in
            let keyless = try await app.call(.POST, "/oauth/authorize", ["redirectUri": .string(ImmichApp.redirectURI)])
            expectImmich(keyless, 400, "MISSING_PARAMETER", "codeChallenge is missing")
            let unnamed = try await app.call(.GET, "/oauth/authorize?code_challenge_method=S256&state=s")
            expectImmich(unnamed, 400, "MISSING_PARAMETER", "code_challenge is missing")
            let short: JSONValue = ["redirectUri": .string(ImmichApp.redirectURI), "codeChallenge": "short"]
            let malformed = try await app.call(.POST, "/oauth/authorize", short)
            expectImmich(
                malformed, 400, "INVALID_PARAMETER", "codeChallenge is not a SHA-256 hash in base64url")
            let asked = try await app.call(.GET, "/oauth/authorize?code_challenge=short&code_challenge_method=S256")
            expectImmich(asked, 400, "INVALID_PARAMETER", "code_challenge is not a SHA-256 hash in base64url")
            let plain = try await app.call(.GET, "/oauth/authorize?code_challenge=\(app.verifier)")
            #expect(plain.status == 400)
            let foreign = try await app.authorize(redirectURI: "https://evil.example/")
            expectImmich(
                foreign, 403, "UNAUTHORIZED_REQUEST_ORIGIN", "redirectUri is not on the application's list")
            let head = try await app.call(.HEAD, "/oauth/authorize?code_challenge=x&code_challenge_method=S256")
            #expect(head.status == 405)
        }
    }
}
