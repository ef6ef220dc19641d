import Foundation
import GatehouseTesting
import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// The metadata with which clients register (RFC 7591, 2; OpenID Connect Dynamic Client Registration, 2).
struct ClientMetadataTests {
    private static let uris: JSONValue = ["https://rp.example/cb"]

    private static func metadata(_ changes: [String: JSONValue]) -> JSONValue {
        .object(["redirect_uris": uris].merging(changes) { $1 })
    }

    @Test func `what is registered is returned, with the defaults, and nothing else`() async throws {
        try await TestServer.with(application: RelyingParty.registration()) { server in
            let party = RelyingParty(server)
            let plain = try await party.register(["redirect_uris": Self.uris])
            #expect(plain.status == 201, "\(plain.text)")
            let id = plain["client_id"].string ?? ""
            #expect(id.hasPrefix("reg~") && id.utf8.count == 26, "\(id)")
            #expect(
                plain.json.keys == [
                    "client_id", "client_id_issued_at", "client_secret", "client_secret_expires_at",
                    "registration_client_uri", "registration_access_token", "redirect_uris", "grant_types",
                    "response_types", "scope", "token_endpoint_auth_method", "subject_type", "application_type",
                    "id_token_signed_response_alg",
                ])
            #expect(plain["id_token_signed_response_alg"] == "ES256")
            #expect(try await party.manage(.GET, plain)["id_token_signed_response_alg"] == "ES256")
            #expect(plain["grant_types"] == ["authorization_code"] && plain["response_types"] == ["code"])
            #expect(plain["scope"] == "openid profile email" && plain["subject_type"] == "public")
            #expect(plain["token_endpoint_auth_method"] == "client_secret_basic" && plain["application_type"] == "web")
            let full: [String: JSONValue] = [
                "client_name": "Ada's photos \u{1F4F7}", "client_uri": "https://rp.example/",
                "logo_uri": "https://rp.example/logo.png", "policy_uri": "https://rp.example/policy",
                "tos_uri": "https://rp.example/tos?x=1", "grant_types": ["authorization_code", "refresh_token"],
                "response_types": ["code"], "scope": "email openid", "token_endpoint_auth_method": "client_secret_post",
                "token_endpoint_auth_signing_alg": "ES256", "jwks_uri": "https://rp.example/keys",
                "subject_type": "pairwise", "id_token_signed_response_alg": "ES256", "application_type": "native",
                "default_max_age": 3600, "require_auth_time": true, "default_acr_values": ["1"],
                "post_logout_redirect_uris": ["https://rp.example/bye"],
                "backchannel_logout_uri": "https://rp.example/logout", "backchannel_logout_session_required": true,
            ]
            let dropped: [String: JSONValue] = [
                "firstParty": true, "contacts": ["ada@rp.example"], "sector_identifier_uri": "https://rp.example/x",
                "client_id": "web", "client_secret": "chosen", "request_uris": ["https://rp.example/r"],
                "userinfo_signed_response_alg": "none", "software_id": "their own", "client_name#de": "Adas Fotos",
            ]
            let answer = try await party.register(Self.metadata(full.merging(dropped) { $1 }))
            #expect(answer.status == 201, "\(answer.text)")
            for (name, value) in full { #expect(answer[name] == value, "\(name)") }
            #expect(answer["client_id"].string?.hasPrefix("reg~") == true && answer["client_secret"] != "chosen")
            #expect(answer.json.keys.isDisjoint(with: Set(dropped.keys).subtracting(["client_id", "client_secret"])))
            let shown = try await party.manage(.GET, answer)
            #expect(shown.json.keys.union(["client_secret"]) == answer.json.keys)
            for name in shown.json.keys { #expect(shown[name] == answer[name], "\(name)") }
        }
    }

    private static let wrongURIs: [JSONValue] = [
        ["https://rp.example/cb#x"], ["http://rp.example/cb"], ["https://*.rp.example/cb"], ["https://a@rp.example/cb"],
        ["javascript:alert(1)"], ["app:/cb"], ["https://rp.example/c b"], ["https://rp.example/\u{E9}"], [""], [],
        ["https://rp.example/cb", "https://rp.example/cb#x"], [7], [["https://rp.example/cb"]],
        "https://rp.example/cb", 7, true, [:],
    ]

    @Test func `a redirect URI that cannot be registered is refused`() async throws {
        try await TestServer.with(application: RelyingParty.registration()) { server in
            let party = RelyingParty(server)
            #expect(try await party.register([:]).isOAuthError(400, "invalid_redirect_uri"))
            for uris in Self.wrongURIs {
                let answer = try await party.register(["redirect_uris": uris])
                #expect(answer.isOAuthError(400, "invalid_redirect_uri"), "\(uris): \(answer.text)")
                let logout = try await party.register(Self.metadata(["post_logout_redirect_uris": uris]))
                #expect(logout.isOAuthError(400, "invalid_redirect_uri"), "\(uris): \(logout.text)")
            }
        }
    }

    @Test func `other values that the server does not support are refused`() async throws {
        let long = "https://rp.example/" + String(repeating: "x", count: 2048)
        let key = try TestAuthority()
        let secret: JSONValue = ["kty": "oct", "k": "c2VjcmV0"]
        let refused: [(String, [JSONValue])] = [
            (
                "client_name",
                [
                    7, ["x"], .string(String(repeating: "x", count: 61)), "a\u{202E}b", "a\u{2066}b", "a\u{200F}b",
                    "a\nb", "a\u{1B}b", "a\u{2028}b", "a\u{7F}b",
                    .string("e" + String(repeating: "\u{301}", count: 60)),
                ]
            ),
            (
                "client_uri",
                [
                    "http://rp.example/", "javascript:alert(1)", "https://", "https://a:b@rp.example/", "//rp.example",
                    "https://rp.example/#x", .string(long), "https://rp.example/\u{202E}", 7, "",
                ]
            ),
            ("logo_uri", ["data:image/png;base64,AAAA"]), ("policy_uri", ["http://rp.example/"]),
            ("tos_uri", ["ftp://rp.example/"]), ("jwks_uri", ["file:///etc/passwd", 7]),
            ("backchannel_logout_uri", ["https://rp.example/#x", "gopher://rp.example/"]),
            (
                "grant_types",
                [["implicit"], ["refresh_token"], [], ["client_credentials"], ["authorization_code", 7], 7]
            ),
            ("response_types", [["token"], ["code id_token"], ["code", "token"], [], "code"]),
            ("scope", ["", "account", "nothing else", 7]),
            ("token_endpoint_auth_method", ["client_secret_jwt", "tls_client_auth", "", 7]),
            ("token_endpoint_auth_signing_alg", ["none", "HS256", "RS512", 7]),
            ("subject_type", ["private", 7]), ("application_type", ["desktop"]),
            ("id_token_signed_response_alg", ["none", "HS256", "PS256"]),
            ("default_max_age", [-1, "1", .number(0.5), .number(1e300), 9_223_372_036_854_775_807]),
            ("require_auth_time", ["true", 1]),
            ("backchannel_logout_session_required", [0]), ("default_acr_values", ["1", [1]]),
            (
                "jwks",
                [
                    7, [:], ["keys": [secret]], ["keys": [["kty": "EC", "d": "x"]]], ["keys": 7], key.publicKey,
                ]
            ),
        ]
        try await TestServer.with(application: RelyingParty.registration()) { server in
            let party = RelyingParty(server)
            for (name, values) in refused {
                for value in values {
                    let answer = try await party.register(Self.metadata([name: value]))
                    #expect(answer.isOAuthError(400, "invalid_client_metadata"), "\(name) \(value): \(answer.text)")
                }
            }
            let together: [[String: JSONValue]] = [
                ["token_endpoint_auth_method": "private_key_jwt"],
                ["token_endpoint_auth_method": "private_key_jwt", "jwks": ["keys": []]],
                [
                    "token_endpoint_auth_method": "private_key_jwt",
                    "jwks": ["keys": [["kty": "RSA", "n": "AQ", "e": "AQ"]]],
                ],
                ["jwks": key.keySet, "jwks_uri": "https://rp.example/keys"],
                ["subject_type": "pairwise", "redirect_uris": ["https://a.example/", "https://b.example/"]],
                ["subject_type": "pairwise", "redirect_uris": ["com.example.app:/cb"]],
                ["default_acr_values": .array((0..<31).map { .string("\($0)" + String(repeating: "x", count: 1000)) })],
            ]
            for metadata in together {
                let answer = try await party.register(Self.metadata(metadata))
                #expect(answer.isOAuthError(400, "invalid_client_metadata"), "\(metadata): \(answer.text)")
            }
            #expect(try await server.count("SELECT count(*) FROM clients") == 0)
        }
    }

    @Test func `a body that is no JSON object is refused`() async throws {
        try await TestServer.with(application: RelyingParty.registration()) { server in
            let party = RelyingParty(server)
            let bodies = [
                "[]", "7", "null", "", "{", "{\"redirect_uris\":[\"\\ud800\"]}", "{\"client_name\":\"a\\u0000b\"}",
                String(repeating: "[", count: 60_000), "{} {}", "{\"a\":1e400}",
            ]
            for body in bodies {
                let answer = try await party.api.send(.POST, "/oauth/register", raw: Array(body.utf8))
                let isAbsent = body.isEmpty
                #expect(
                    answer.isOAuthError(400, isAbsent ? "invalid_redirect_uri" : "invalid_request"),
                    "\(body.prefix(40)): \(answer.text)")
            }
            let large = Array("{\"a\":\"\(String(repeating: "x", count: 70_000))\"}".utf8)
            #expect(try await party.api.send(.POST, "/oauth/register", raw: large).isOAuthError(413, "invalid_request"))
            let form = try await party.api.send(
                .POST, "/oauth/register", raw: Array("a=b".utf8),
                headers: ["content-type": "application/x-www-form-urlencoded"])
            #expect(form.isOAuthError(415, "invalid_request"), "\(form.text)")
        }
    }

    @Test func `a public client and one with a key get no secret`() async throws {
        let key = try TestAuthority()
        try await TestServer.with(application: RelyingParty.registration()) { server in
            let party = RelyingParty(server)
            let open = try await party.register(Self.metadata(["token_endpoint_auth_method": "none"]))
            let signing = try await party.register(
                Self.metadata(["token_endpoint_auth_method": "private_key_jwt", "jwks": key.keySet]))
            for answer in [open, signing] {
                #expect(answer.status == 201, "\(answer.text)")
                #expect(answer["client_secret"] == .null && answer["client_secret_expires_at"] == .null)
            }
            // `pkce: optional` is not for public clients.
            let client = try party.registered(open)
            let answer = try await client.authorize(
                omitting: ["code_challenge", "code_challenge_method"], cookie: nil)
            #expect(answer.returned("error") == "invalid_request")
            var other = try party.registered(signing)
            other.secret = nil
            let code = ["grant_type": "authorization_code", "code": "x", "redirect_uri": "https://rp.example/cb"]
            #expect(try await other.post("/oauth/token", code).isOAuthError(401, "invalid_client"))
            #expect(try await client.post("/oauth/token", code).isOAuthError(400, "invalid_grant"))
        }
    }
}
