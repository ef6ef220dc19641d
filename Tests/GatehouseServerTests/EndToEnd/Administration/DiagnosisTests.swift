import Administration
import Foundation
import GatehouseTesting
import HTTPTypes
import Hummingbird
import NIOCore
import ProviderKit
import Testing

@testable import GatehouseServer

/// What `diagnose` says about services over HTTP, and what it does not reach.
struct DiagnosisTests {
    private typealias Issuer = OpenIDConnectSignInTests.Issuer

    private func diagnose(
        _ prepare: @Sendable @escaping (UpstreamServer) -> Void
    ) async throws -> (APIClient.Answer, UpstreamServer) {
        try await UpstreamServer.with { upstream in
            _ = try Issuer(upstream)
            upstream.service.answer(upstream.url + "/token") { _ in .json(["error": "invalid_grant"], status: 400) }
            prepare(upstream)
            return (try await Self.diagnose(issuer: upstream.url), upstream)
        }
    }

    private static func diagnose(
        issuer: String, network: String = "allowPrivateHosts: true"
    ) async throws -> APIClient.Answer {
        let provider = #"google: { kind: oidc, issuer: "\#(issuer)", clientID: client, clientSecret: hush-hush }"#
        return try await TestServer.with(
            providers: provider, network: network, admin: "{ application: demo }"
        ) { server in
            let key = try await server.serviceKey([.writeProviders])
            let answer = try await APIClient(server).post("/admin/providers/google/diagnose", bearer: key)
            #expect(answer.status == 200, "\(answer.text)")
            #expect(!answer.text.contains("hush-hush"))
            return answer
        }
    }

    @Test func `a provider that works`() async throws {
        let (answer, upstream) = try await diagnose { _ in }
        #expect(
            answer.states == [
                "name": "ok", "tls": "warning", "discovery": "ok", "issuer": "ok", "keys": "ok", "clock": "ok",
                "client": "ok",
            ], "\(answer.text)")
        #expect(answer["checks"].array?.compactMap { $0["id"].string }.first == "name")
        #expect(answer.json.keys == ["checks"])
        let asked = upstream.service.requests.last { $0.form != nil }
        #expect(asked?.form?["grant_type"] == "authorization_code")
        #expect(asked?.form?["redirect_uri"] == "http://127.0.0.1:1/api/v1/auth/oauth/google/callback")
        #expect(asked?.headers["authorization"]?.hasPrefix("Basic ") == true)
    }

    @Test func `a wrong secret`() async throws {
        let (answer, _) = try await diagnose { upstream in
            upstream.service.answer(upstream.url + "/token") { _ in .json(["error": "invalid_client"], status: 401) }
        }
        let client = answer.check("client")
        #expect(client["state"] == "failed", "\(answer.text)")
        #expect(client["evidence"].string?.contains("client.refused") == true)
        #expect(client["evidence"].string?.contains("401") == true)
        #expect(client["remedy"].string?.isEmpty == false)
        #expect(answer.check("keys")["state"] == "ok")
    }

    @Test func `another issuer is named, and gets no secret`() async throws {
        let (answer, upstream) = try await diagnose { upstream in
            let url = upstream.url
            upstream.service.answer(url + "/.well-known/openid-configuration") { _ in
                .json([
                    "issuer": .string(url + "/"), "authorization_endpoint": .string(url + "/authorize"),
                    "token_endpoint": .string(url + "/token"), "jwks_uri": .string(url + "/keys"),
                    "id_token_signing_alg_values_supported": ["ES256"],
                ])
            }
        }
        #expect(answer.check("issuer")["state"] == "failed", "\(answer.text)")
        #expect(answer.check("issuer")["evidence"].string == "issuer.mismatch: \(upstream.url)/")
        #expect(answer.check("client")["state"] == "skipped")
        #expect(upstream.count("/token") == 0)
    }

    @Test func `keys of another algorithm, and none at all`() async throws {
        for body: JSONValue in [["keys": [["kty": "oct", "k": "c2VjcmV0"]]], ["keys": []], "keys"] {
            let (answer, _) = try await diagnose { upstream in
                upstream.service.answer(upstream.url + "/keys") { _ in .json(body) }
            }
            #expect(answer.check("keys")["state"] == "failed", "\(answer.text)")
            #expect(answer.check("keys")["evidence"].string?.hasPrefix("keys.unusable") == true)
            #expect(answer.check("client")["state"] == "ok")
        }
    }

    @Test func `no document, or one that is not usable`() async throws {
        for response in [
            FetchResponse(status: 404, body: []), .json([:]), FetchResponse(status: 200, body: Array("<html>".utf8)),
        ] {
            let (answer, upstream) = try await diagnose { upstream in
                upstream.service.answer(upstream.url + "/.well-known/openid-configuration") { _ in response }
            }
            #expect(answer.states["discovery"] == "failed", "\(answer.text)")
            for id in ["issuer", "keys", "client"] { #expect(answer.states[id] == "skipped", "\(id)") }
            #expect(upstream.count("/token") == 0 && upstream.count("/keys") == 0)
        }
    }

    @Test func `a private address is not called`() async throws {
        try await UpstreamServer.with { upstream in
            let url = upstream.url.replacing("http://", with: "https://")
            let answer = try await Self.diagnose(issuer: url, network: "allowPrivateHosts: false")
            #expect(answer.check("name")["evidence"] == "upstream.private", "\(answer.text)")
            #expect(answer.states["name"] == "failed")
            #expect(answer.states.filter { $0.key != "name" }.values.allSatisfy { $0 == "skipped" })
            #expect(upstream.service.requests.isEmpty)
        }
    }

    @Test(arguments: ["http://169.254.169.254/latest/meta-data", "http://10.0.0.1/", "http://localhost:1/"])
    func `a redirect elsewhere is not followed`(_ target: String) async throws {
        let (answer, _) = try await diagnose { upstream in
            upstream.service.answer(upstream.url + "/.well-known/openid-configuration") { _ in
                FetchResponse(status: 302, headers: ["location": target], body: [])
            }
        }
        #expect(answer.check("discovery")["evidence"] == "upstream.redirected", "\(answer.text)")
        #expect(answer.states["client"] == "skipped")
    }

    @Test func `an answer without an end is read up to the limit`() async throws {
        let answer = try await UpstreamServer.serve { _ in
            let chunk = ByteBuffer(repeating: UInt8(ascii: " "), count: 1 << 16)
            return Response(
                status: .ok,
                body: ResponseBody { writer in
                    // 10 GB, unless the reader hangs up.
                    for _ in 0..<163_840 { try await writer.write(chunk) }
                    try await writer.finish(nil)
                })
        } _: { port in
            try await Self.diagnose(issuer: "http://127.0.0.1:\(port)")
        }
        #expect(answer.check("discovery")["evidence"] == "upstream.too-large", "\(answer.text)")
    }

    @Test func `a service that does not answer takes at most 15 seconds, and at most four wait for it`() async throws {
        try await UpstreamServer.serve { _ in
            try await Task.sleep(for: .seconds(120))
            return Response(status: .ok)
        } _: { port in
            let provider = #"google: { kind: oidc, issuer: "http://127.0.0.1:\#(port)", clientID: client }"#
            try await TestServer.with(providers: provider, admin: "{ application: demo }") { server in
                let key = try await server.serviceKey([.writeProviders])
                let began = ContinuousClock.now
                let answers = try await atOnce(6) {
                    try await APIClient(server).post("/admin/providers/google/diagnose", bearer: key)
                }
                #expect(ContinuousClock.now - began < .seconds(15))
                #expect(answers.map(\.status).sorted() == [200, 200, 200, 200, 503, 503])
                for answer in answers where answer.status == 200 {
                    #expect(answer.check("discovery")["evidence"] == "upstream.timeout", "\(answer.text)")
                }
                // Other calls of administrators have places of their own.
                #expect(try await APIClient(server).get("/admin/me", bearer: key).status == 200)
            }
        }
    }

    @Test func `a provider is checked while a switch has it off, and the check is recorded`() async throws {
        try await TestServer.with(admin: "{ application: demo }") { server in
            let (client, key) = (APIClient(server), try await server.serviceKey())
            let plan = try await client.plan("anonymous", "off", key)
            #expect(try await client.switchProvider("anonymous", plan, key).status == 200)
            let events = try await server.audited {
                let guests = try await client.post("/admin/providers/anonymous/diagnose", bearer: key)
                #expect(guests.states == ["settings": "ok"], "\(guests.text)")
            }
            #expect(events.map(\.event) == ["provider.diagnosed"])
            let details = try #require(events.first?.details)
            #expect(details["provider"] == "anonymous" && details["kind"] == "anonymous")
            #expect(details["actor"]["key"].string != nil)
        }
    }

    @Test func `a provider without a service has nothing to ask`() async throws {
        try await TestServer.with(providers: "scripted: { mode: off }", admin: "{ application: demo }") { server in
            let (client, key) = (APIClient(server), try await server.serviceKey([.writeProviders]))
            let guests = try await client.post("/admin/providers/anonymous/diagnose", bearer: key)
            #expect(guests.states == ["settings": "ok"], "\(guests.text)")
            let mails = try await client.post("/admin/providers/email/diagnose", bearer: key)
            #expect(mails.states == ["smtp": "skipped", "login": "skipped"], "\(mails.text)")
            let off = try await client.post("/admin/providers/scripted/diagnose", bearer: key)
            #expect(off.status == 200 && off.states == ["settings": "skipped"], "\(off.text)")
            expectError(try await client.post("/admin/providers/unknown/diagnose", bearer: key), 404, "NOT_FOUND")
            let reader = try await server.serviceKey([.readServer])
            expectError(
                try await client.post("/admin/providers/email/diagnose", bearer: reader), 403, "FORBIDDEN")
        }
    }
}

extension APIClient.Answer {
    func check(_ id: String) -> JSONValue { self["checks"].array?.first { $0["id"].string == id } ?? .null }

    /// The states of a diagnosis by check.
    var states: [String: String] {
        let pairs = (self["checks"].array ?? []).map { ($0["id"].string ?? "", $0["state"].string ?? "") }
        return Dictionary(pairs) { first, _ in first }
    }
}
