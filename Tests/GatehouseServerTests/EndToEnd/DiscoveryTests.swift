import Accounts
import Delivery
import Foundation
import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// The list of providers, the key set and the OpenAPI document.
struct DiscoveryTests {
    @Test func `providers are listed where they are enabled`() async throws {
        let photos = """
              photos:
                providers:
                  guests: { kind: anonymous, enabled: true }
                  email: { enabled: false }
            """
        try await TestServer.with(others: photos) { server in
            let answer = try await APIClient(server).get("/auth/providers")
            #expect(answer.status == 200 && answer.json.keys == ["providers"])
            let providers = try #require(answer["providers"].array)
            #expect(providers.map { $0["name"] } == ["anonymous", "email"])
            for provider in providers {
                #expect(provider.keys == ["name", "kind", "displayName", "flow"])
                #expect(provider["flow"] == "direct" && provider["displayName"].string?.isEmpty == false)
            }
            let client = APIClient(server, application: "photos")
            let others = try await client.get("/auth/providers")
            #expect(others["providers"].array?.map { [$0["name"], $0["kind"]] } == [["guests", "anonymous"]])
            #expect(try await client.post("/auth/anonymous")["auth"]["provider"] == "guests")
        }
    }

    @Test func `the key set holds public keys and nothing private`() async throws {
        try await TestServer.with(tokens: "algorithm: RS256, rsaBits: 2048") { server in
            let answer = try await APIClient(server).send(.GET, "/.well-known/jwks.json")
            #expect(answer.status == 200)
            let keys = try #require(answer["keys"].array)
            // The second key verifies erasure certificates.
            #expect(keys.count == 2)
            #expect(keys.first?.keys == ["kty", "n", "e", "use", "alg", "kid"])
            #expect(keys.first?["kty"] == "RSA" && keys.first?["use"] == "sig" && keys.first?["alg"] == "RS256")
            #expect(answer.headers.first(name: "content-type")?.hasPrefix("application/") == true)
            #expect(answer.headers.first(name: "cache-control")?.contains("max-age") == true)
        }
    }

    @Test func `the document describes what the server answers`() async throws {
        try await TestServer.with(application: BlitzApp.everything) { server in
            let client = APIClient(server)
            let document = try await client.send(.GET, "/openapi.json")
            #expect(document.status == 200 && document["openapi"].string?.hasPrefix("3.1") == true)
            let paths = try #require(document["paths"].object)
            let documented = [
                "/auth/providers", "/auth/anonymous", "/auth/register", "/auth/verify-email", "/auth/login",
                "/auth/forgot-password", "/auth/reset-password", "/auth/change-password", "/auth/refresh",
                "/auth/invitation", "/auth/recover",
                "/auth/logout", "/auth/check",
                "/auth/me", "/auth/sessions", "/auth/sessions/{id}", "/auth/account", "/auth/account/restore",
                "/erasures/{receipt}",
            ]
            #expect(Set(paths.keys).isSuperset(of: documented.map { "/api/v1" + $0 }))
            #expect(
                Set(paths.keys).isSuperset(of: ["/health/live", "/health/ready", "/metrics", "/.well-known/jwks.json"]))
            let pages = [
                "/signin", "/signup", "/signin/{request}", "/account", "/account/{section}", "/verify-email",
                "/reset-password", "/review", "/invitation", "/recover",
            ]
            #expect(Set(paths.keys).isSuperset(of: pages))
            for path in pages where !["/signin", "/signup"].contains(path) {
                let content = paths[path]?["get"]["responses"]["200"]["content"]
                #expect(content?.keys.contains("text/html") == true, "\(path)")
                let form = paths[path]?["post"]["requestBody"]["content"]["application/x-www-form-urlencoded"]
                #expect(form?["schema"]["properties"].keys.contains("csrf") == true, "\(path)")
            }
            for (path, operations) in paths {
                for (method, operation) in try #require(operations.object) {
                    let concrete = path.replacing(/\{[^}]+\}/, with: UUID().uuidString)
                    let answer = try await client.send(HTTPMethod(rawValue: method.uppercased()), concrete)
                    #expect(answer.status != 405 && answer.status < 500, "\(method) \(path): \(answer.status)")
                    // The application has no picture.
                    #expect(answer.status != 404 || path.contains("{") || path == "/pages/logo", "\(method) \(path)")
                    let documented = operation["responses"].keys
                    #expect(documented.contains(String(answer.status)), "\(method) \(path): \(answer.status)")
                }
            }
        }
    }

    @Test func `the document describes the forms and errors of OpenID clients`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let client = APIClient(server)
            let document = try await client.send(.GET, "/openapi.json").json
            let paths = document["paths"]
            func field(_ name: String, of path: String) -> JSONValue {
                let content = paths[path]["post"]["requestBody"]["content"]["application/x-www-form-urlencoded"]
                return content["schema"]["properties"][name]
            }
            #expect(field("code_verifier", of: "/oauth/token")["description"].string?.isEmpty == false)
            for path in ["/oauth/authorize", "/oauth/par", "/oauth/device"] {
                #expect(field("resource", of: path)["type"] == "array", "\(path)")
            }
            #expect(field("resource", of: "/oauth/token")["type"] == "string")
            let query = paths["/oauth/authorize"]["get"]["parameters"].array?.first { $0["name"] == "resource" }
            #expect(query?["schema"]["type"] == "array")
            for path in ["/oauth/authorize", "/oauth/logout"] {
                #expect(paths[path]["get"]["responses"].keys.contains("414"), "\(path)")
            }
            let errors = paths["/oauth/token"]["post"]["responses"]
            for (status, header) in [("401", "WWW-Authenticate"), ("429", "Retry-After"), ("503", "Retry-After")] {
                #expect(errors[status]["headers"].keys.contains(header), "\(status)")
            }
            let update = paths["/oauth/register/{client}"]["put"]["responses"].keys
            #expect(update.contains("400") && !update.contains("204"), "\(update)")
            let content = paths["/oauth/userinfo"]["get"]["responses"]["401"]["content"]["application/json"]
            for (bearer, challenge) in [(nil, "Bearer"), ("x", #"Bearer error="invalid_token""#)] {
                let answer = try await client.send(.GET, "/oauth/userinfo", bearer: bearer)
                #expect(answer.status == 401 && answer.headers.first(name: "www-authenticate") == challenge)
                let faults = SchemaCheck(document: document).faults(of: answer.json, in: content["schema"])
                #expect(content != .null && faults.isEmpty, "\(challenge): \(faults)")
            }
        }
    }

    @Test func `every reference in the document resolves`() async throws {
        try await TestServer.with { server in
            let answer = try await APIClient(server).send(.GET, "/openapi.json")
            let schemas = answer["components"]["schemas"].keys
            let references = answer.text.matches(of: /#\/components\/schemas\/([A-Za-z0-9]+)/).map {
                String($0.output.1)
            }
            #expect(!references.isEmpty && schemas.isSuperset(of: references))
        }
    }

    @Test func `answers agree with the document's schemas`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let document = try await client.send(.GET, "/openapi.json").json
            func check(_ value: JSONValue, _ method: String, _ path: String, _ status: String = "200") {
                let content = document["paths"]["/api/v1" + path][method]["responses"][status]["content"]
                let faults = SchemaCheck(document: document).faults(
                    of: value, in: content["application/json"]["schema"])
                #expect(content != .null && faults.isEmpty, "\(method) \(path): \(faults)")
            }
            check(try await client.post("/auth/anonymous").json, "post", "/auth/anonymous")
            let person = try await client.register(at: server)
            check(try await client.login(person.email).json, "post", "/auth/login")
            check(try await client.get("/auth/me", bearer: person.accessToken).json, "get", "/auth/me")
            check(try await client.get("/auth/sessions", bearer: person.accessToken).json, "get", "/auth/sessions")
            check(try await client.get("/auth/providers").json, "get", "/auth/providers")
            check(try await client.refresh(person.refreshToken).json, "post", "/auth/refresh")
            check(try await client.get("/auth/me").json, "get", "/auth/me", "401")
            let deleted = try await client.delete("/auth/account", bearer: person.accessToken)
            let receipt = try await client.send(.GET, try #require(deleted.headers.first(name: "location")))
            check(receipt.json, "get", "/erasures/{receipt}")
            check(try await client.login(person.email).json, "post", "/auth/login", "403")
        }
    }
}

/// A validator for the part of JSON Schema that the document uses.
private struct SchemaCheck {
    let document: JSONValue

    func faults(of value: JSONValue, in schema: JSONValue, at path: String = "$") -> [String] {
        if let name = schema["$ref"].string?.split(separator: "/").last {
            return faults(of: value, in: document["components"]["schemas"][String(name)], at: path)
        }
        if let parts = schema["allOf"].array { return parts.flatMap { faults(of: value, in: $0, at: path) } }
        if let choices = schema["anyOf"].array {
            let all = choices.map { faults(of: value, in: $0, at: path) }
            return all.contains { $0.isEmpty } ? [] : ["\(path): none of its forms"]
        }
        let types = schema["type"].array?.compactMap(\.string) ?? [schema["type"].string].compactMap { $0 }
        guard types.isEmpty || types.contains(where: { value.isOf($0) }) else { return ["\(path): no \(types)"] }
        if let cases = schema["enum"].array, !cases.contains(value) { return ["\(path): not listed"] }
        let missing = (schema["required"].array ?? []).compactMap(\.string).filter { !value.keys.contains($0) }
        let unknown = schema["properties"] == .null ? [] : value.keys.subtracting(schema["properties"].keys)
        let isOpen = path.contains("error")
        return (value == .null ? [] : missing.map { "\(path).\($0): missing" })
            + (isOpen ? [] : unknown.map { "\(path).\($0): not documented" })
            + (schema["properties"].object ?? [:]).flatMap { name, inner in
                value.keys.contains(name) ? faults(of: value[name], in: inner, at: "\(path).\(name)") : []
            }
            + (schema["items"] == .null ? [] : value.array ?? []).flatMap {
                faults(of: $0, in: schema["items"], at: path + "[]")
            }
    }
}

extension JSONValue {
    fileprivate func isOf(_ type: String) -> Bool {
        switch (self, type) {
        case (.null, "null"), (.bool, "boolean"), (.integer, "integer"), (.integer, "number"), (.number, "number"),
            (.string, "string"), (.array, "array"), (.object, "object"):
            true
        default: false
        }
    }
}
