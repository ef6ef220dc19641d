import Foundation
import NIOHTTP1
import Postgres
import ProviderKit
import Testing

@testable import GatehouseServer

/// What accounts have given clients: `/auth/grants`.
struct GrantTests {
    @Test func `consents and the operator's clients in use are listed, and can be taken back`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let (web, spa) = (RelyingParty(server), RelyingParty.public(server))
            let person = try await web.api.register(at: server)
            #expect(try await web.api.get("/auth/grants", bearer: person.accessToken).json == ["grants": []])
            try await spa.consent(of: person)
            let cookie = try await web.browser(of: person)
            let tokens = try await web.redeem(web.code(cookie: cookie))
            let list = try await web.api.get("/auth/grants", bearer: person.accessToken)["grants"].array ?? []
            let clients = list.map { $0["clientId"].string ?? "" }
            #expect(clients == ["spa", "web"])
            #expect(
                list.first?.keys == [
                    "clientId", "kind", "name", "uri", "device", "scopes", "resources", "grantedAt", "lastUsedAt",
                    "lastAddress",
                ])
            #expect(list[0]["name"] == "Gallery" && list[0]["scopes"] == ["openid", "email"])
            #expect(list[0]["lastUsedAt"].isNull && list[0]["lastAddress"].isNull)
            #expect(list[1]["name"] == "Photos" && list[1]["kind"] == "static")
            #expect(list[1]["lastUsedAt"].string != nil && list[1]["lastAddress"] == "127.0.0.1")
            let stranger = try await web.api.register(at: server)
            for client in ["spa", "web", "nobody"] {
                let answer = try await web.api.delete("/auth/grants/\(client)", bearer: stranger.accessToken)
                #expect(answer.status == 404 && answer.code == "GRANT_NOT_FOUND")
            }
            let pending = try await [web.code(cookie: cookie), web.code(cookie: cookie), spa.code(cookie: cookie)]
            for client in ["spa", "web"] {
                let path = "/auth/grants/\(client)"
                let encoded = path.replacing("/spa", with: "/sp%61")
                #expect(try await web.api.delete(encoded, bearer: person.accessToken).status == 204)
                #expect(try await web.api.delete(path, bearer: person.accessToken).status == 404)
            }
            #expect(try await web.api.get("/auth/grants", bearer: person.accessToken).json == ["grants": []])
            #expect(try await !web.isActive(tokens["access_token"].string ?? ""))
            // The browser stays signed in, but neither an old code nor a new request gets by without consent.
            let late = try await [web.redeem(pending[0]), web.redeem(pending[1]), spa.redeem(pending[2])]
            #expect(late.allSatisfy { $0.isOAuthError(400, "invalid_grant") }, "\(late.map(\.text))")
            #expect(
                try await web.redeem(web.code(cookie: cookie)).status == 200, "the operator's client needs no consent")
            #expect(try await spa.authorize(["prompt": "none"], cookie: cookie).returned("error") == "consent_required")
            let audited = try await server.text(
                "SELECT string_agg(details::text, ' ') FROM audit_events WHERE event = 'consent.revoked'")
            #expect(audited == "{\"client\": \"spa\"}")
        }
    }

    @Test func `a grant taken back while codes are redeemed leaves no session`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            for party in Array(repeating: [RelyingParty(server), .public(server)], count: 10).joined() {
                let person = try await party.api.register(at: server)
                try await party.consent(of: person)
                let code = try await party.code(cookie: party.browser(of: person))
                async let redeemed = party.redeem(code)
                async let revoked = party.api.delete("/auth/grants/\(party.client)", bearer: person.accessToken)
                let (tokens, answer) = (try await redeemed, try await revoked)
                #expect(answer.status == 204)
                #expect(tokens.status == 200 || tokens.isOAuthError(400, "invalid_grant"), "\(tokens.text)")
                guard let access = tokens["access_token"].string else { continue }
                #expect(try await party.userInfo(access).isOAuthError(401, "invalid_token"))
            }
        }
    }

    /// A client that the configuration makes a third party has sessions without consent, too.
    @Test func `codes and refresh tokens need the consent of all their scopes and claims`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let spa = RelyingParty.public(server)
            for kept in [["openid", "offline_access"], ["openid", "email"], []] {
                let person = try await spa.api.register(at: server)
                try await spa.consent(of: person)
                try await server.execute("UPDATE consents SET scopes = '{openid,email,offline_access}'")
                let cookie = try await spa.browser(of: person)
                let offline = ["scope": "openid offline_access", "claims": #"{"id_token":{"email":null}}"#]
                let codes = try await [spa.code(offline, cookie: cookie), spa.code(offline, cookie: cookie)]
                let first = try await spa.redeem(codes[0])
                #expect(try DecodedToken(first["id_token"].string ?? "").claims["email"].string == person.email)
                let second = try await spa.refresh(first["refresh_token"].string ?? "")
                #expect(second.status == 200, "\(second.text)")
                try await server.execute("UPDATE consents SET scopes = $1", [.texts(kept)])
                if kept.isEmpty { try await server.execute("DELETE FROM consents") }
                let late = try await [spa.redeem(codes[1]), spa.refresh(second["refresh_token"].string ?? "")]
                #expect(late.allSatisfy { $0.isOAuthError(400, "invalid_grant") }, "\(kept): \(late.map(\.text))")
            }
        }
    }
}
