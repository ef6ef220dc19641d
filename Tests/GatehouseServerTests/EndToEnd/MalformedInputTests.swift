import Accounts
import Delivery
import Foundation
import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// Malformed input is answered with a client error and never crashes the process.
struct MalformedInputTests {
    /// A route with a JSON body, as the server's own OpenAPI document describes it.
    private struct Route {
        let method: HTTPMethod
        let path: String
        let fields: [String: JSONValue]

        static func all(of client: APIClient) async throws -> [Route] {
            let document = try await client.send(.GET, "/openapi.json").json
            let paths = try #require(document["paths"].object)
            // The endpoints of OpenID clients have errors of another form (`ClientMetadataTests`).
            return paths.filter { $0.key.hasPrefix("/api/") }.flatMap { path, methods in
                ["post", "put", "patch"].compactMap { method in
                    let body = methods[method]["requestBody"]["content"]["application/json"]["schema"]
                    guard body != .null else { return nil }
                    return Route(
                        method: HTTPMethod(rawValue: method.uppercased()), path: path,
                        fields: resolve(body, in: document)["properties"].object ?? [:])
                }
            }
        }

        private static func resolve(_ schema: JSONValue, in document: JSONValue) -> JSONValue {
            guard let name = schema["$ref"].string?.split(separator: "/").last else { return schema }
            return document["components"]["schemas"][String(name)]
        }
    }

    private static let trapping = "1" + String(repeating: "0", count: 170) + "e-153"

    private static let bodies: [(String, [UInt8])] = [
        ("a list", Array("[]".utf8)), ("a list of objects", Array("[{}]".utf8)), ("a text", Array(#""text""#.utf8)),
        ("a number", Array("1".utf8)), ("1e400", Array("1e400".utf8)), ("2^63", Array("9223372036854775808".utf8)),
        ("-2^63", Array("-9223372036854775808".utf8)), ("null", Array("null".utf8)), ("true", Array("true".utf8)),
        ("nothing but blanks", Array("  \n".utf8)), ("one brace", Array("{".utf8)), ("a quote", Array(#"{"a"#.utf8)),
        ("half a pair", Array(#"{"a":"#.utf8)), ("two objects", Array("{} {}".utf8)), ("a comment", Array("{}//".utf8)),
        ("a comma", Array(#"{"a":1,}"#.utf8)), ("a comma in a list", Array(#"{"a":[1,]}"#.utf8)),
        ("a leading zero", Array(#"{"a":01}"#.utf8)), ("a bare point", Array(#"{"a":1.}"#.utf8)),
        ("half an exponent", Array(#"{"a":1e}"#.utf8)), ("not a number", Array(#"{"a":NaN}"#.utf8)),
        ("a word", Array(#"{"a":nul}"#.utf8)), ("a line break in a text", Array("{\"a\":\"\n\"}".utf8)),
        ("an unknown escape", Array(#"{"a":"\x"}"#.utf8)), ("half an escape", Array(#"{"a":"\u12"}"#.utf8)),
        ("a lone surrogate", Array(#"{"a":"\ud800"}"#.utf8)), ("a name with one", Array(#"{"\udc00":1}"#.utf8)),
        ("a number at which Foundation's decoder traps", Array(#"{"a":\#(trapping)}"#.utf8)),
        ("its mark before it", [0xEF, 0xBB, 0xBF] + Array("{}".utf8)), ("17 levels", Array(deep(17).utf8)),
        ("single quotes", Array("{'a':1}".utf8)),
        ("NUL", Array("{}\0".utf8)), ("an escaped NUL", Array(#"{"a":"b\u0000c"}"#.utf8)),
        ("an escaped NUL in a name", Array(#"{"\u0000":1}"#.utf8)),
        ("an escaped NUL deep inside", Array(#"{"a":[{"b":["\\\u0000"]}]}"#.utf8)),
        ("invalid UTF-8", [0x7B, 0x22, 0x61, 0x22, 0x3A, 0x22, 0xFF, 0xFE, 0x22, 0x7D]),
        ("a name in invalid UTF-8", [0x7B, 0x22, 0xC0, 0x80, 0x22, 0x3A, 0x31, 0x7D]),
        ("UTF-16", Array(#"{"displayName":"\u0000"}"#.utf16).flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }),
        ("UTF-16 with its mark", [0xFF, 0xFE] + Array("{}".utf16).flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }),
        ("UTF-32", Array("{}".utf8).flatMap { [0, 0, 0, $0] }),
        ("lists in lists", [UInt8](repeating: 0x5B, count: 60_000)),
        ("objects in objects", Array(String(repeating: #"{"a":"#, count: 12_000).utf8)),
        ("100 000 lists", [UInt8](repeating: 0x5B, count: 100_000)),
        ("one byte too many", Array("{}".utf8) + [UInt8](repeating: 0x20, count: 64 * 1024 - 1)),
    ]

    /// Whether the schema is a string, or a string or null.
    private static func isText(_ schema: JSONValue) -> Bool {
        schema["type"] == "string" || schema["type"].array?.contains("string") == true
    }

    private static func deep(_ levels: Int) -> String {
        String(repeating: #"{"a":"#, count: levels) + "1" + String(repeating: "}", count: levels)
    }

    @Test func `a body that is no JSON object is refused by every route`() async throws {
        try await TestServer.with(application: BlitzApp.everything) { server in
            let client = APIClient(server)
            let bearer = try await client.guest().accessToken
            for route in try await Route.all(of: client) {
                for (name, body) in Self.bodies {
                    let answer = try await client.send(route.method, route.path, raw: body, bearer: bearer)
                    expectRefusal(answer, "\(route.path) \(name)")
                    #expect(answer.status == (body.count > 64 * 1024 ? 413 : 400), "\(route.path) \(name)")
                }
            }
            #expect(try await client.get("/auth/me", bearer: bearer).status == 200)
        }
    }

    @Test func `a field of a wrong type is refused by every route, and named`() async throws {
        let values = [
            "7", "-0.5", "1e400", "9223372036854775808", "-9223372036854775808", "true", "[]", "{}", #"["text"]"#,
            #"{"a":null}"#, #""\ud800""#, #""\udc00\ud800""#,
            String(repeating: "[", count: 600) + String(repeating: "]", count: 600),
        ]
        try await TestServer.with(application: BlitzApp.everything) { server in
            let client = APIClient(server)
            let bearer = try await client.guest().accessToken
            let routes = try await Route.all(of: client)
            #expect(routes.count >= 9)
            for route in routes {
                for (field, schema) in route.fields where Self.isText(schema) {
                    for value in values {
                        let body = Array(#"{"\#(field)":\#(value)}"#.utf8)
                        let answer = try await client.send(route.method, route.path, raw: body, bearer: bearer)
                        let about = "\(route.path) \(field) \(value.prefix(40))"
                        expectRefusal(answer, about)
                        #expect(answer.status == 400, "\(about)")
                    }
                    // With valid values for all other fields, the error is about this field.
                    let others = route.fields.filter { $0.key != field && Self.isText($0.value) }
                        .map { #","\#($0)":"\#($1["enum"].array?.first?.string ?? "text")""# }.joined()
                    let isList = "\(schema)".contains("items")
                    for value in ["7", isList ? "{}" : "[]"] {
                        let body = Array(#"{"\#(field)":\#(value)\#(others)}"#.utf8)
                        let answer = try await client.send(route.method, route.path, raw: body, bearer: bearer)
                        #expect(answer.message.hasPrefix("\(field) "), "\(route.path) \(answer.text)")
                    }
                }
            }
            #expect(try await client.get("/auth/me", bearer: bearer).status == 200)
        }
    }

    @Test func `a duplicate member is refused or one of its values is used`() async throws {
        try await TestServer.with(application: BlitzApp.everything) { server in
            let client = APIClient(server)
            let bearer = try await client.guest().accessToken
            for route in try await Route.all(of: client) where !route.path.hasSuffix("logout") {
                for field in route.fields.keys {
                    let body = Array(#"{"\#(field)":"a","\#(field)":7,"\#(field)":null}"#.utf8)
                    let answer = try await client.send(route.method, route.path, raw: body, bearer: bearer)
                    #expect(answer.status < 500, "\(route.path) \(answer.text)")
                }
            }
        }
    }

    @Test func `metadata accepts any JSON that can be stored`() async throws {
        try await TestServer.with(application: BlitzApp.everything) { server in
            let client = APIClient(server)
            let bearer = try await client.guest().accessToken
            let deep = String(repeating: #"{"a":"#, count: 14) + "1" + String(repeating: "}", count: 14)
            let refused = [
                "[]", "7", #""text""#, "true", #"{"a":1e400}"#, #"{"a":[-1e400]}"#, #"{"a":"\ud800"}"#,
                #"{"\udfff":1}"#, #"{"a":"\u0000"}"#, #"{"a":{"\u0000":1}}"#, #"{"a":\#(Self.trapping)}"#,
                String(repeating: #"{"a":"#, count: 600) + "1" + String(repeating: "}", count: 600),
                #"{"a":""# + String(repeating: "x", count: 16 * 1024) + #""}"#,
            ]
            for value in refused {
                let body = Array(#"{"metadata":\#(value)}"#.utf8)
                let answer = try await client.send(.PATCH, "/api/v1/auth/me", raw: body, bearer: bearer)
                expectError(answer, 400, "INVALID_PARAMETER", String(value.prefix(40)))
            }
            let kept = [
                "{}", #"{"a":9223372036854775807}"#, #"{"a":-9223372036854775808}"#, #"{"a":0.1}"#, #"{"a":"\\u0000"}"#,
                #"{"a":"\ud83d\ude00","ü":[null,true,{"b":[]}]}"#, deep,
                // Escaped JSON three times as long as the decoded text.
                #"{"a":""# + String(repeating: #"\u00e9"#, count: 8000) + #""}"#,
            ]
            for value in kept {
                let body = Array(#"{"metadata":\#(value)}"#.utf8)
                let answer = try await client.send(.PATCH, "/api/v1/auth/me", raw: body, bearer: bearer)
                #expect(answer.status == 200, "\(value.prefix(40)) \(answer.text.prefix(200))")
                let expected = try JSONDecoder().decode(JSONValue.self, from: Data(value.utf8))
                #expect(try await client.get("/auth/me", bearer: bearer)["metadata"] == expected, "\(value.prefix(40))")
            }
            for value in [#"{"a":9223372036854775808}"#, #"{"a":1e308}"#, #"{"a":-0.0}"#, #"{"a":5e-324}"#] {
                let body = Array(#"{"metadata":\#(value)}"#.utf8)
                let answer = try await client.send(.PATCH, "/api/v1/auth/me", raw: body, bearer: bearer)
                #expect(answer.status == 200, "\(value) \(answer.text.prefix(200))")
            }
        }
    }

    @Test func `another content type is 415`() async throws {
        try await TestServer.with(application: BlitzApp.everything) { server in
            let client = APIClient(server)
            let bearer = try await client.guest().accessToken
            let refused = [
                "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x",
                "application/jsonx",
                "application/json-patch+json", "json", "", ";", "application/xml; x=application/json", "\u{FF}",
            ]
            for route in try await Route.all(of: client) {
                for type in refused {
                    let answer = try await client.send(
                        route.method, route.path, raw: Array("{}".utf8), bearer: bearer, headers: ["content-type": type]
                    )
                    expectError(answer, 415, "UNSUPPORTED_MEDIA_TYPE", "\(route.path) \(type)")
                }
            }
            for type in ["application/json; charset=utf-8", "Application/JSON", "application/json ;charset=\"utf-8\""] {
                let answer = try await client.send(
                    .POST, "/api/v1/auth/anonymous", raw: Array("{}".utf8), headers: ["content-type": type])
                #expect(answer.status == 200, "\(type)")
            }
        }
    }

    @Test func `odd headers and non-HTTP requests do no harm`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let raw = RawExchange(server)
            let requests = [
                "", "\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "\0\0\0\0\r\n\r\n",
                "POST /api/v1/auth/login HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
                "POST /api/v1/auth/login HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n",
                "POST /api/v1/auth/login HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}",
                "POST /api/v1/auth/login HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n",
                "POST /api/v1/auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{",
                "GET /\0 HTTP/1.1\r\nHost: x\r\n\r\n", "GET /api/v1/auth/me HTTP/1.1\r\nHost: x\r\nA\u{1}B: 1\r\n\r\n",
                "GET / HTTP/1.1\r\nHost: x\r\nX: " + String(repeating: "x", count: 200_000) + "\r\n\r\n",
                "GET /" + String(repeating: "a", count: 200_000) + " HTTP/1.1\r\nHost: x\r\n\r\n",
                "GET / HTTP/1.1\r\n" + String(repeating: "X: y\r\n", count: 20_000) + "\r\n",
                "OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
                "GET http://evil.example/api/v1/auth/me HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
                "CONNECT a:1 HTTP/1.1\r\nHost: x\r\n\r\n",
                "GET nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
                "GET /api/v1/auth/me HTTP/1.1\r\nConnection: close\r\n\r\n",
                "GET /api/v1/auth/me HTTP/1.1\r\nHost: \u{1F4A9}:::]]\r\nConnection: close\r\n\r\n",
            ]
            for request in requests {
                let answer = await raw.send(request)
                let status = answer.split(separator: " ").dropFirst().first.flatMap { Int($0) }
                #expect(status.map { (400..<500).contains($0) } ?? true, "\(request.prefix(60)): \(answer.prefix(200))")
                #expect(try await client.send(.GET, "/health/live").status == 200, "\(request.prefix(60))")
            }
            let odd: HTTPHeaders = [
                "x-forwarded-for": "::::,,,\u{FF}", "x-device-name": String(repeating: "ü", count: 5000),
                "x-request-id": "a b", "origin": "", "accept": "\u{FF}", "authorization": "Basic \u{FF}",
                "cookie": String(repeating: "c", count: 20_000), "host": "[::1",
            ]
            let answer = try await client.post("/auth/anonymous", headers: odd)
            #expect(answer.status < 500, "\(answer.text)")
        }
    }
}
