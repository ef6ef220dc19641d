import Accounts
import Delivery
import Foundation
import GatehouseClient
import GatehouseTesting
import ProviderKit
import Testing

/// The Swift client library signs in with every kind of proof.
struct SwiftSignInTests {
    @Test func `guests, passwords and codes sign in`() async throws {
        try await TestServer.linking { server, api in
            let app = try SwiftApp(server)
            let guest = try await app.client.signIn(.anonymous)
            #expect(guest.isNewAccount && guest.session.user.isAnonymous && guest.session.auth.provider == "anonymous")

            let address = APIClient.newAddress()
            let mailed = try await app.client.register(
                email: address, password: APIClient.password, displayName: "Ada")
            #expect(mailed == address)
            let token = try await api.mailedToken(to: address, at: server)
            let ada = try await app.client.verifyEmail(token: token).session
            #expect(ada.user.displayName == "Ada" && ada.user.email == address && ada.user.emailVerified)

            let wrong = await #expect(throws: GatehouseError.self) {
                try await app.client.signIn(.password(email: address, password: "not the password"))
            }
            #expect(wrong?.code == .invalidCredentials)
            let kept = try await app.client.session
            #expect(kept?.uid == ada.uid, "a refused sign-in changes nothing")
            let known = try await app.client.signIn(.password(email: address, password: APIClient.password))
            #expect(known.session.uid == ada.uid && !known.isNewAccount)

            let sent = try await app.client.sendCode(toEmail: address)
            #expect(sent.expiresIn > .seconds(500) && sent.resendAfter <= .seconds(60))
            let code = try await api.sentCode(to: address, at: server)
            let byCode = try await app.client.signIn(.code(code, of: sent))
            #expect(byCode.session.uid == ada.uid)

            let text = try await app.client.sendCode(toPhone: "+4915112345678")
            let number = try await api.sentCode(to: "+4915112345678", at: server)
            let phone = try await app.client.signIn(.code(number, of: text)).session
            #expect(phone.user.phone == "+4915112345678" && phone.user.phoneVerified && phone.uid != ada.uid)

            let offered = try await app.client.providers()
            #expect(offered.first { $0.kind == "phone" }?.flow == .challenge)
        }
    }

    @Test func `a forgotten password is set again, and then changed`() async throws {
        try await TestServer.with { server in
            let (app, api) = (try SwiftApp(server), APIClient(server))
            let person = try await api.register(at: server)
            let known = Set(server.inbox.messages().compactMap { $0.text.firstMatch(of: /token=([\w-]+)/)?.output.1 })
            try await app.client.forgotPassword(email: person.email)
            let token = try await api.mailedToken(to: person.email, at: server, other: Set(known.map { String($0) }))
            try await app.client.resetPassword(token: token, to: APIClient.otherPassword)
            try await app.client.signIn(.password(email: person.email, password: APIClient.otherPassword))
            let weak = await #expect(throws: GatehouseError.self) {
                try await app.client.changePassword(current: APIClient.otherPassword, to: "aaaaaaaa")
            }
            #expect(weak?.code == .tooWeakPassword && weak?.refusal?.reasons == ["tooGuessable"])
            try await app.client.changePassword(current: APIClient.otherPassword, to: APIClient.thirdPassword)
            let again = try await app.client.signIn(.password(email: person.email, password: APIClient.thirdPassword))
            #expect(again.session.uid == person.uid)
        }
    }

    @Test func `signed tokens, ID tokens and assertions sign in`() async throws {
        try await UpstreamServer.with { upstream in
            let authority = try TestAuthority()
            upstream.service.answer(upstream.url + "/keys") { _ in .json(authority.keySet) }
            let keys = authority.keySetText.replacing("\"", with: "\\\"")
            try await TestServer.with(
                providers: """
                    scripted: {}
                    custom: { kind: custom-token, issuer: "https://legacy.example", audience: demo, jwks: "\(keys)", \
                    algorithms: [ES256] }
                    carrier: { kind: mobile-network, issuer: "https://operator.example", jwksURL: "\(upstream.url)/keys" }
                    """
            ) { server in
                let app = try SwiftApp(server)
                func token(_ issuer: String, _ more: [String: JSONValue]) throws -> String {
                    let now = Int64(Date().timeIntervalSince1970)
                    let claims: [String: JSONValue] = [
                        "iss": .string(issuer), "aud": "demo", "iat": .integer(now), "exp": .integer(now + 200),
                        "jti": .string(UUID().uuidString),
                    ]
                    return try authority.token(claims.merging(more) { $1 })
                }
                let custom = try await app.client.signIn(
                    .customToken(token("https://legacy.example", ["sub": "42"]), provider: "custom"))
                #expect(custom.session.auth.provider == "custom" && custom.session.auth.providerUid == "42")
                let assertion = try token("https://operator.example", ["phone_number": "+4915112345678"])
                let carrier = try await app.client.signIn(.mobileNetwork(assertion: assertion))
                #expect(carrier.session.user.phone == "+4915112345678")
                let evidence = try VerifiedIdentity.somebody("ada").proof
                let native = try await app.client.signIn(.idToken(evidence, provider: "scripted"))
                #expect(native.session.auth.providerUid == "ada")
            }
        }
    }

    @Test func `Sign in with Apple sends the raw nonce of the hash that Apple signs`() async throws {
        try await AppleSignInTests().with { apple in
            let app = try SwiftApp(apple.server)
            let nonce = AppleNonce()
            let token = try apple.token("001", ["nonce": .string(nonce.hashed)])
            let signedIn = try await app.client.signIn(
                .apple(identityToken: token, givenName: "John", familyName: "Doe", nonce: nonce.raw))
            #expect(signedIn.session.auth.provider == "apple" && signedIn.session.user.displayName == "John Doe")
            let other = try apple.token("002", ["nonce": .string(AppleNonce().hashed)])
            let refused = await #expect(throws: GatehouseError.self) {
                try await app.client.signIn(.apple(identityToken: other, nonce: nonce.raw))
            }
            #expect(refused?.code == .invalidToken)
        }
    }

    @Test func `a provider's page signs in, links and re-authenticates`() async throws {
        try await TestServer.linking(application: #"redirectURIs: ["demo://oauth/callback"]"#) { server, api in
            let (app, browser) = (try SwiftApp(server), RedirectClient(api: api))
            let uri = browser.redirectURI
            let flow = try await app.client.beginRedirect(to: "scripted", redirectURI: uri)
            let arrival = try await browser.visit(flow, as: .somebody("ada"))
            let ada = try await app.client.signIn(flow.proof(from: arrival)).session
            #expect(ada.auth.providerUid == "ada")

            let link = try await app.client.beginRedirect(to: "scripted", redirectURI: uri, for: .link)
            let other = try await browser.visit(link, as: .somebody("ada's other"))
            try await app.client.link(link.proof(from: other))
            let identities = try await app.client.identities()
            #expect(Set(identities.map(\.providerUid)) == ["ada", "ada's other"])

            let again = try await app.client.beginRedirect(to: "scripted", redirectURI: uri, for: .reauthenticate)
            #expect(again.url.query()?.contains("prompt=login") == true)
            var evidence = VerifiedIdentity.somebody("ada")
            evidence.authenticatedAt = Date()
            let fresh = try await browser.visit(again, as: evidence)
            let proven = try await app.client.reauthenticate(again.proof(from: fresh))
            #expect(proven.session.uid == ada.uid)

            let foreign = #expect(throws: GatehouseError.self) { try again.proof(from: arrival) }
            #expect(foreign?.code == .invalidState)
            let text = fresh.absoluteString.replacing("code=", with: "error=access_denied&x=")
            let denied = try #require(URL(string: text))
            let closed = #expect(throws: GatehouseError.self) { try again.proof(from: denied) }
            #expect(closed?.code == .accessDenied)
        }
    }
}
