import Foundation
import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// Tokens for the services that take them (RFC 8707).
struct ResourceTests {
    private static let photos = "https://api.photos.example"
    private static let mail = "https://api.mail.example"
    private static let configuration = """
        openid:
          clients:
            web:
              name: Photos
              secret: "\(RelyingParty.secret)"
              redirectURIs: ["\(RelyingParty.redirectURI)"]
              firstParty: true
              scopes: [openid, offline_access]
              resources: ["\(photos)", "\(mail)"]
          resources:
            "\(photos)": { accessLifetime: 60, scopes: { photos.read: See your photos } }
            "\(mail)": { scopes: { mail.read: Read your mail } }
        """
    private static let all = ["scope": "openid photos.read mail.read offline_access"]

    @Test func `a token is for one resource, and has its scopes only`() async throws {
        try await TestServer.with(application: Self.configuration) { server in
            let party = RelyingParty(server)
            let cookie = try await party.browser(of: party.api.register(at: server))
            let answer = try await party.redeem(party.code(Self.all, cookie: cookie), ["resource": Self.photos])
            #expect(answer["scope"] == "openid photos.read offline_access" && answer["expires_in"] == 60)
            let access = answer["access_token"].string ?? ""
            #expect(try DecodedToken(access).claims["aud"] == [.string(Self.photos), "http://127.0.0.1:1"])
            #expect(try await party.userInfo(access).status == 200)
            let other = try await party.refresh(answer["refresh_token"].string ?? "", ["resource": Self.mail])
            #expect(other["scope"] == "openid mail.read offline_access", "\(other.text)")
            #expect(
                try DecodedToken(other["access_token"].string ?? "").claims["aud"]
                    == [.string(Self.mail), "http://127.0.0.1:1"])

            // Without openid the token is for the resource alone, and is nothing here.
            let plain = try await party.redeem(party.code(["scope": "photos.read"], cookie: cookie))
            #expect(plain["scope"] == "photos.read" && plain["id_token"] == .null)
            let alone = plain["access_token"].string ?? ""
            #expect(try DecodedToken(alone).claims["aud"] == [.string(Self.photos)])
            #expect(try await party.userInfo(alone).isOAuthError(403, "insufficient_scope"))
            #expect(try await party.api.get("/auth/me", bearer: alone).status == 403)

            // What the authorization request names bounds what the token request may name.
            let bounded = Self.all.merging(["resource": Self.photos]) { $1 }
            let refused = try await party.redeem(party.code(bounded, cookie: cookie), ["resource": Self.mail])
            #expect(refused.isOAuthError(400, "invalid_target"))
            let named = try await party.redeem(party.code(bounded, cookie: cookie))
            #expect(named["scope"] == "openid photos.read offline_access", "\(named.text)")
        }
    }
}
