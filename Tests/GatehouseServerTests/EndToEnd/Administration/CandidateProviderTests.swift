import Accounts
import Administration
import Foundation
import GatehouseTesting
import NIOHTTP1
import Outbound
import Postgres
import ProviderKit
import Testing

@testable import GatehouseServer

/// Checking settings of a provider that is in no file.
struct CandidateProviderTests {
    private func check(
        _ settings: JSONValue, name: String = "corp", kind: String = "oidc", at server: TestServer
    ) async throws -> APIClient.Answer {
        let key = try await server.serviceKey([.writeProviders])
        return try await APIClient(server).post(
            "/admin/providers/check", ["name": .string(name), "kind": .string(kind), "settings": settings], bearer: key)
    }

    private func with(_ body: @Sendable @escaping (TestServer) async throws -> Void) async throws {
        try await TestServer.with(admin: "{ application: demo }", body)
    }

    private func problems(_ answer: APIClient.Answer) -> [String: String] {
        let list = answer.json["error"]["details"]["problems"].array ?? []
        return Dictionary(list.map { ($0["path"].string ?? "", $0["sentence"].string ?? "") }) { first, _ in first }
    }

    @Test func `settings that work are checked and written as lines of the file`() async throws {
        try await UpstreamServer.with { upstream in
            _ = try OpenIDConnectSignInTests.Issuer(upstream)
            upstream.service.answer(upstream.url + "/token") { _ in .json(["error": "invalid_grant"], status: 400) }
            let settings: JSONValue = [
                "issuer": .string(upstream.url), "clientID": "client", "clientSecret": "hush-hush",
                "scopes": ["email", "groups"], "trustEmail": true, "claims": ["displayName": "full_name"],
            ]
            try await with { server in
                let answer = try await check(settings, at: server)
                #expect(answer.status == 200, "\(answer.text)")
                #expect(answer.states["client"] == "ok" && answer.states["issuer"] == "ok", "\(answer.text)")
                #expect(answer["callbackURL"] == "http://127.0.0.1:1/api/v1/auth/oauth/corp/callback")
                let yaml = try #require(answer["yaml"].string)
                #expect(!answer.text.contains("hush-hush"))

                // The lines are what the file takes.
                let file = TestServer.yaml(
                    providers: yaml.split(separator: "\n").dropFirst().map { $0.dropFirst(2) }.joined(separator: "\n"))
                let configuration = try Configuration.parse(
                    file, file: "test.yaml",
                    environment: ["DATABASE_URL": "postgres://x", "CORP_CLIENT_SECRET": "hush-hush"],
                    installed: TestServer.providers)
                let provider = configuration.applications.first?.providers.all.first { $0.name == "corp" }
                #expect(provider?.kind == "oidc" && provider?.provider != nil, "\(yaml)")
            }
        }
    }

    @Test func `nothing is stored, and nothing is configured`() async throws {
        try await with { server in
            let before = try await server.count("SELECT count(*) FROM audit_events")
            let answer = try await check([:], name: "guests", kind: "anonymous", at: server)
            #expect(answer.status == 200 && answer["callbackURL"] == .null, "\(answer.text)")
            #expect(answer["yaml"] == "providers:\n  guests:\n    kind: anonymous\n")
            // The events are those of the service key and of the check.
            #expect(try await server.count("SELECT count(*) FROM audit_events") == before + 2)
            let details = try #require(try await server.audited().last { $0.event == "provider.diagnosed" }?.details)
            #expect(details["provider"] == "guests" && details["kind"] == "anonymous")
            #expect(details["actor"]["key"].string != nil)
            let providers = try await APIClient(server).get("/auth/providers")
            #expect(!providers.text.contains("guests"))
            #expect(server.server.ports.statistics.allSatisfy { $0.provider != "guests" })
        }
    }

    @Test func `settings that the schema refuses are named one by one`() async throws {
        try await with { server in
            let answer = try await check(
                ["issuer": "nowhere", "clientSecret": "hush-hush", "colour": "red", "trustEmail": "perhaps"],
                at: server)
            expectError(answer, 400, "INVALID_PROVIDER_SETTINGS")
            let problems = problems(answer)
            #expect(Set(problems.keys) == ["issuer", "clientID", "colour", "trustEmail"], "\(answer.text)")
            #expect(problems["clientID"] == "clientID: is required")
            #expect(problems.values.allSatisfy { !$0.isEmpty })
            #expect(!answer.text.contains("hush-hush"))

            for (name, kind, settings, path): (String, String, JSONValue, String) in [
                ("Corp", "oidc", [:], "name"), ("corp", "nothing", [:], "kind"), ("corp", "oidc", "text", "settings"),
                ("corp", "oidc", ["issuer": "https://id.example?x", "clientID": "c"], "issuer"),
                ("corp", "oidc", ["mode": "off"], "mode"),
                ("corp", "oidc", ["issuer": "https://id.example", "clientID": "c", "scopes": [["x"]]], "scopes[0]"),
            ] {
                let answer = try await check(settings, name: name, kind: kind, at: server)
                expectError(answer, 400, "INVALID_PROVIDER_SETTINGS", path)
                #expect(self.problems(answer).keys.contains(path), "\(answer.text)")
            }
        }
    }

    /// The administrator chooses the hosts, and the setting is for those that the operator names in the file.
    @Test func `private hosts are called in development only, whatever network.allowPrivateHosts says`() async throws {
        try await UpstreamServer.with { upstream in
            _ = try OpenIDConnectSignInTests.Issuer(upstream)
            for (mode, isCalled) in [
                ("development: true", true), ("development: false, trustedProxies: [127.0.0.1]", false),
            ] {
                let before = upstream.service.requests.count
                try await TestServer.with(server: mode, admin: "{ application: demo }") { server in
                    var client = APIClient(server)
                    client.headers = ["x-forwarded-proto": "https"]
                    let key = try await server.serviceKey([.writeProviders])
                    let answer = try await client.post(
                        "/admin/providers/check",
                        [
                            "name": "corp", "kind": "oidc",
                            "settings": ["issuer": .string(upstream.url), "clientID": "client"],
                        ], bearer: key)
                    // An issuer without HTTPS may be refused before it is asked.
                    #expect(isCalled ? answer.status == 200 : answer.states["issuer"] != "ok", "\(answer.text)")
                    #expect((upstream.service.requests.count > before) == isCalled, "\(answer.text)")
                }
            }
        }
    }

    /// The secret would be sent to a service of the caller's choice.
    @Test func `settings read neither files nor variables of the server`() async throws {
        try await UpstreamServer.with { upstream in
            _ = try OpenIDConnectSignInTests.Issuer(upstream)
            try await with { server in
                for secret in ["file:/etc/hostname", "${DATABASE_URL}", "a${HOME}b", "$${x}"] {
                    let answer = try await check(
                        ["issuer": .string(upstream.url), "clientID": "client", "clientSecret": .string(secret)],
                        at: server)
                    expectError(answer, 400, "INVALID_PROVIDER_SETTINGS", secret)
                    #expect(problems(answer)["clientSecret"]?.contains("not read here") == true, "\(answer.text)")
                }
                let variable = try await check(
                    ["issuer": .string(upstream.url), "clientID": "${DATABASE_URL}"], at: server)
                expectError(variable, 400, "INVALID_PROVIDER_SETTINGS")
                #expect(!variable.text.contains("postgres"))
            }
            #expect(upstream.service.requests.isEmpty)
        }
    }
}
