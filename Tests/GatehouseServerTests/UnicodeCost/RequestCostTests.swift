import Foundation
import NIOHTTP1
import Pages
import ProviderKit
import Testing

@testable import GatehouseServer

/// 60 KB of combining marks in any text that a client can send cost little processor time.
@Suite(.serialized) struct RequestCostTests {
    private static let providers = """
        scripted: {}
        phone: {}
        apple: { clientIDs: [net.example.app] }
        carrier: { kind: mobile-network, gateways: [127.0.0.1], header: X-MSISDN }
        custom: { kind: custom-token, issuer: "https://legacy.example", audience: demo, \
        jwksURL: "http://127.0.0.1:9/keys", algorithms: [ES256] }
        """

    private func serve(_ body: @Sendable @escaping (TestServer, JSONValue) async throws -> Void) async throws {
        try await TestServer.with(
            server: "development: true, trustedProxies: [127.0.0.1]",
            application: "redirectURIs: [\"demo://oauth/callback\"]\n\(BlitzApp.everything)", providers: Self.providers,
            others: TestServer.photos
        ) { server in
            try await body(server, try await APIClient(server).send(.GET, "/openapi.json").json)
        }
    }

    /// Returns the bytes of a request; `Host` and the headers of a body are added.
    private static func request(
        _ method: String, _ path: String, headers: [String: String] = [:], body: String? = nil,
        type: String = "application/json"
    ) -> [UInt8] {
        var head = "\(method) \(path) HTTP/1.1\r\nConnection: close\r\n"
        if headers["Host"] == nil { head += "Host: 127.0.0.1:1\r\n" }
        for (name, value) in headers { head += "\(name): \(value)\r\n" }
        if let body {
            if headers["Content-Type"] == nil { head += "Content-Type: \(type)\r\n" }
            head += "Content-Length: \(body.utf8.count)\r\n"
        }
        return Array((head + "\r\n" + (body ?? "")).utf8)
    }

    @Test func `a value of any field of any body`() async throws {
        try await serve { server, document in
            let (client, raw) = (APIClient(server), RawExchange(server))
            var budget = ProcessorBudget()
            let bodies = DocumentedBody.all(in: document)
            #expect(bodies.count > 25)
            for body in bodies {
                let bearer = try await client.guest().accessToken
                let headers = ["Authorization": "Bearer \(bearer)"]
                let path = body.path.replacing(/\{[a-z]+\}/, with: "email")
                for place in body.texts {
                    for marks in [CombiningMarks.text(), CombiningMarks.escaped()] {
                        let json = body.json(with: "\"a\(marks)\"", at: place)
                        let bytes = Self.request(body.method, path, headers: headers, body: json)
                        await budget.spend(on: "\(body.method) \(body.path) \(place.joined(separator: "."))") {
                            let answer = await raw.send(bytes, staying: true)
                            #expect(
                                answer.hasPrefix("HTTP/1.1 ") && !answer.hasPrefix("HTTP/1.1 5"),
                                "\(body.path): \(answer.prefix(400))")
                        }
                    }
                }
            }
            budget.check()
        }
    }

    @Test func `a name of any body, at the top or inside`() async throws {
        try await serve { server, document in
            let (client, raw) = (APIClient(server), RawExchange(server))
            var budget = ProcessorBudget()
            for body in DocumentedBody.all(in: document) {
                let headers = ["Authorization": "Bearer \(try await client.guest().accessToken)"]
                let path = body.path.replacing(/\{[a-z]+\}/, with: "email")
                // A client's registration and a scanned code ask for a token of their own before they read the body.
                let refusals = body.path.hasPrefix("/api/") ? [400] : [400, 401]
                for marks in [CombiningMarks.text(), CombiningMarks.escaped()] {
                    for json in body.json(naming: "a\(marks)") + ["{\"metadata\":{\"a\(marks)\":1}}"] {
                        let bytes = Self.request(body.method, path, headers: headers, body: json)
                        await budget.spend(on: "\(body.method) \(body.path) \(json.start)") {
                            let answer = await raw.send(bytes)
                            #expect(
                                refusals.contains { answer.hasPrefix("HTTP/1.1 \($0)") },
                                "\(body.path): \(answer.prefix(300))")
                        }
                    }
                }
            }
            budget.check()
        }
    }

    @Test func `names and values of queries and forms`() async throws {
        try await serve { server, _ in
            let raw = RawExchange(server)
            var budget = ProcessorBudget()
            let marks = ["a" + CombiningMarks.text(), "a" + CombiningMarks.percentEncoded()]
            let names = [
                "redirect_uri", "code_challenge", "code_challenge_method", "state", "mode", "code", "error",
                "error_description", "iss", "user",
            ]
            let begun = try await RedirectClient(api: APIClient(server)).begin()
            for path in ["authorize", "callback"] {
                let path = "/api/v1/auth/oauth/scripted/\(path)"
                for marks in marks {
                    let fields = names.map { "\($0)=\(marks)" } + ["\(marks)=1", marks, "a=1&\(marks)=2"]
                    for field in fields {
                        let likely = "redirect_uri=demo%3A%2F%2Foauth%2Fcallback&state=\(begun.state)&code=x"
                        let others = likely.split(separator: "&").filter { !field.utf8.starts(with: $0.utf8.prefix(5)) }
                        let query = ([field] + others.map(String.init)).joined(separator: "&")
                        await budget.spend(on: "query of \(path): \(field.start)") {
                            _ = await raw.send(Self.request("GET", "\(path)?\(query)"))
                        }
                        await budget.spend(on: "form of \(path): \(field.start)") {
                            _ = await raw.send(
                                Self.request("POST", path, body: query, type: "application/x-www-form-urlencoded"))
                        }
                    }
                }
            }
            budget.check()
        }
    }

    @Test func `fields of the pages and of the OAuth endpoints`() async throws {
        try await serve { server, _ in
            let raw = RawExchange(server)
            var budget = ProcessorBudget()
            let page = ["action", "identifier", "password", "code", "account", "user_code", "survivor", "csrf", "lang"]
            let client = ["client_id", "client_secret", "client_assertion", "client_assertion_type"]
            let request = [
                "request_uri", "response_type", "response_mode", "scope", "prompt", "claims", "acr_values", "max_age",
                "ui_locales", "login_hint", "id_token_hint", "code_challenge_method", "resource",
            ]
            let token = [
                "grant_type", "code", "code_verifier", "redirect_uri", "refresh_token", "device_code", "scope",
            ]
            let forms = [
                "/signin/x": page, "/account/name": page, "/account/language": page, "/review": page,
                "/oauth/authorize": client + request, "/oauth/par": client + request, "/oauth/token": client + token,
                "/oauth/device": client + token, "/oauth/revoke": client + ["token", "token_type_hint"],
                "/oauth/introspect": client + ["token"], "/oauth/logout": ["id_token_hint", "state", "ui_locales"],
            ]
            for (path, names) in forms {
                for name in names {
                    for marks in ["a" + CombiningMarks.text(), "a" + CombiningMarks.percentEncoded()] {
                        let pushed = name == "request_uri" ? "urn:ietf:params:oauth:request_uri:" : ""
                        let form = "client_id=x&\(name == "client_id" ? "" : "\(name)=\(pushed)\(marks)")"
                        let type = "application/x-www-form-urlencoded"
                        await budget.spend(on: "\(path): \(name)") {
                            let answer = await raw.send(Self.request("POST", path, body: form, type: type))
                            #expect(
                                answer.hasPrefix("HTTP/1.1 4") || answer.hasPrefix("HTTP/1.1 3"),
                                "\(path): \(answer.prefix(200))")
                            #expect(!answer.hasPrefix("HTTP/1.1 404"), "\(path): \(answer.prefix(200))")
                        }
                        await budget.spend(on: "query of \(path): \(name)") {
                            _ = await raw.send(Self.request("GET", "\(path)?\(form)"))
                        }
                    }
                }
            }
            budget.check()
        }
    }

    @Test func `any part of a path`() async throws {
        try await serve { server, document in
            let raw = RawExchange(server)
            var budget = ProcessorBudget()
            let paths = Set(try #require(document["paths"].object).keys)
                .union(["/{a}", "/apps/{a}/api/v1/auth/providers", "/apps/demo/{a}"])
            let marks = [
                "a" + CombiningMarks.text(), CombiningMarks.text(), "a" + CombiningMarks.percentEncoded(),
                // Short enough not to be refused for its length.
                "a" + CombiningMarks.text(bytes: 900), "a" + CombiningMarks.percentEncoded(bytes: 900),
            ]
            for path in paths where path.contains("{") {
                for marks in marks {
                    let path = path.replacing(/\{[a-z]+\}/, with: marks)
                    for method in ["GET", "POST", "DELETE"] {
                        await budget.spend(on: "\(method) \(path.start)") {
                            let answer = await raw.send(Self.request(method, path, body: method == "POST" ? "{}" : nil))
                            #expect(
                                !answer.hasPrefix("HTTP/1.1 2") && !answer.hasPrefix("HTTP/1.1 5"), "\(path.start)"
                            )
                        }
                    }
                }
            }
            budget.check()
        }
    }

    @Test func `any header`() async throws {
        try await serve { server, _ in
            let raw = RawExchange(server)
            var budget = ProcessorBudget()
            let names = [
                "Host", "Origin", "Cookie", "Authorization", "Content-Type", "Accept", "Accept-Language", "User-Agent",
                "X-Device-Name", "X-Forwarded-For", "X-Forwarded-Proto", "X-Request-ID", "X-MSISDN", "Expect",
                "Upgrade", "Transfer-Encoding", "Access-Control-Request-Method", "If-None-Match", "Anything",
            ]
            let prefixes = ["": "", "Authorization": "Bearer ", "Cookie": "gatehouse-flow-x=", "Origin": "http://"]
            // Headers of the larger size are refused before they are read.
            for size in [15_000, 60_000] {
                for name in names {
                    for prefix in Set([prefixes[name] ?? "", "a"]) {
                        let headers = [name: prefix + CombiningMarks.text(bytes: size)]
                        for (method, path) in [
                            ("POST", "/api/v1/auth/mobile-network"), ("GET", "/dev/inbox"), ("GET", "/api/v1/auth/me"),
                            ("GET", "/api/v1/auth/oauth/scripted/callback"), ("OPTIONS", "/api/v1/auth/me"),
                            ("GET", "/nothing"), ("GET", "/client/gatehouse.js"),
                        ] {
                            let bytes = Self.request(
                                method, path, headers: headers, body: method == "POST" ? "{}" : nil)
                            await budget.spend(on: "\(name), \(size): \(method) \(path)") {
                                let answer = await raw.send(bytes)
                                #expect(!answer.hasPrefix("HTTP/1.1 5"), "\(name): \(answer.prefix(200))")
                            }
                        }
                    }
                }
            }
            budget.check()
        }
    }

    @Test func `a client's name and secret in a header`() async throws {
        try await serve { server, _ in
            let raw = RawExchange(server)
            var budget = ProcessorBudget()
            for marks in [CombiningMarks.text(bytes: 20_000), CombiningMarks.percentEncoded(bytes: 20_000)] {
                for text in ["a\(marks):x", "x:a\(marks)"] {
                    let basic = ["Authorization": "Basic \(Data(text.utf8).base64EncodedString())"]
                    for path in ["token", "par", "device", "revoke", "introspect"] {
                        let bytes = Self.request(
                            "POST", "/oauth/\(path)", headers: basic, body: "a=b",
                            type: "application/x-www-form-urlencoded")
                        await budget.spend(on: "\(path): \(text.start)") {
                            let answer = await raw.send(bytes)
                            #expect(answer.hasPrefix("HTTP/1.1 4"), "\(path): \(answer.prefix(200))")
                        }
                    }
                }
            }
            budget.check()
        }
    }

    @Test func `what is typed on a page`() async throws {
        try await serve { server, _ in
            var (budget, browser) = (ProcessorBudget(), PageBrowser(server))
            let page = try await browser.open("/signin")
            var fields = try #require(page.forms.first { $0.actions.contains("code") }).fields
            (fields["identifier"], fields["action"]) = (nil, "code")
            let form = RelyingParty.encoded(fields)
            for marks in ["a" + CombiningMarks.text(), "a@" + CombiningMarks.text()] {
                await budget.spend(on: "identifier") { [browser] in
                    var browser = browser
                    let view = try? await browser.exchange(.POST, page.path, form: "\(form)&identifier=\(marks)")
                    #expect(view?.status == 400, "\(view?.text ?? "")")
                }
                await budget.spend(on: "the word that confirms a deletion") {
                    #expect(!StepPage.confirms(deletion: marks, in: .en))
                }
            }
            budget.check()
        }
    }

    @Test func `keys of clients`() async throws {
        var budget = ProcessorBudget()
        let sets = (0..<2).map { TokenKeys.set("{\($0)" + CombiningMarks.text()) }
        await budget.spend(on: "two sets") {
            #expect(Set(sets).count == 2 && sets[0] != sets[1])
        }
        budget.check()
    }

    @Test func `ways to finish a flow`() async throws {
        try await serve { server, _ in
            let client = RedirectClient(api: APIClient(server))
            let raw = RawExchange(server)
            var budget = ProcessorBudget()
            for name in ["state", "redirect_uri", "codeVerifier", "unknown"] {
                try await budget.spend(on: "token: \(name)") {
                    let code = try await client.arrive(
                        client.begin(["state": "s"]), with: VerifiedIdentity(providerUid: UUID().uuidString)
                    ).query("code")
                    var fields = [
                        "code": code ?? "", "state": "s", "redirect_uri": client.redirectURI,
                        "codeVerifier": client.verifier,
                    ]
                    fields[name] = "a" + CombiningMarks.text()
                    return Self.request(
                        "POST", "/api/v1/auth/token",
                        body: String(decoding: try JSONEncoder().encode(fields), as: UTF8.self))
                } _: { (bytes: [UInt8]) in
                    let answer = await raw.send(bytes)
                    #expect(name == "unknown" || answer.hasPrefix("HTTP/1.1 40"), "\(name): \(answer.prefix(300))")
                }
            }
            budget.check()
        }
    }

    @Test func `metadata of many values is measured before it is read`() async throws {
        try await serve { server, _ in
            let bearer = try await APIClient(server).guest().accessToken
            let raw = RawExchange(server)
            var budget = ProcessorBudget()
            let lists = "[" + String(repeating: "[],", count: 20_000) + "[]]"
            let bytes = Self.request(
                "PATCH", "/api/v1/auth/me", headers: ["Authorization": "Bearer \(bearer)"],
                body: "{\"metadata\":{\"a\":\(lists)}}")
            await budget.spend(on: "20,000 lists") {
                let answer = await raw.send(bytes)
                #expect(answer.contains("metadata is larger than 16384 bytes"), "\(answer)")
            }
            budget.check()
        }
    }
}
