import Accounts
import Foundation
import NIOHTTP1
import Postgres
import ProviderKit
import Testing

@testable import GatehouseServer

/// Linking an identity at the pages, and the refusals of the linking rules there.
struct LinkPageTests {
    private static let number = "+33612345678"

    private func with(
        application: String = "", providers: String = "phone: { enabled: true }",
        _ body: @Sendable @escaping (TestServer) async throws -> Void
    ) async throws {
        try await TestServer.with(
            application: RelyingParty.configuration + application, providers: providers, body)
    }

    @Test func `a code links an address, and the sessions go on`() async throws {
        try await with { server in
            let (party, person) = (RelyingParty(server), try await APIClient(server).register(at: server))
            var visitor = try await LinkingBrowser(of: person, at: server)
            let session = try await visitor.session(of: person.uid)
            let code = try await party.code(["scope": "openid offline_access"], cookie: visitor.browser.cookieHeader)
            let tokens = try await party.redeem(code)
            try await server.age("sessions", "authenticated_at", by: "100 seconds", where: "kind <> 'api'")

            var view = try await visitor.add("phone")
            #expect(view.status == 200 && view.step == "signin" && view.path.hasPrefix("/signin/"))
            #expect(view.forms.count == 1 && view.forms[0].actions == ["code"], "\(view.text)")
            #expect(view.text.contains("<h1>Add ") && view.text.contains("autocomplete=\"tel\""))
            view = try await visitor.browser.submit("code", ["identifier": "no number"], of: view)
            #expect(view.status == 400 && view.problem == "INVALID_PARAMETER")
            #expect(view.forms[0].fields["identifier"] == "no number")
            view = try await visitor.browser.submit("code", ["identifier": Self.number], of: view)
            #expect(view.step == "code" && view.text.contains(Self.number))
            let sent = try await APIClient(server).sentCode(to: Self.number, at: server)
            let wrong = try await visitor.browser.submit(
                "verify", ["code": sent == "000000" ? "000001" : "000000"], of: view)
            #expect(wrong.status == 400 && wrong.step == "code" && wrong.problem == "INVALID_CREDENTIALS")
            let former = visitor.browser.sessions
            view = try await visitor.browser.submit("verify", ["code": sent], of: wrong)
            #expect(view.status == 200 && view.path == "/account/identities", "\(view.path) \(view.text)")
            #expect(view.text.contains(Self.number) && visitor.browser.sessions != former)

            #expect(try await server.providers(of: person.uid) == "email phone")
            #expect(try await visitor.session(of: person.uid) == session, "the browser's session goes on")
            let refreshed = try await party.refresh(tokens["refresh_token"].string ?? "")
            #expect(refreshed.status == 200, "\(refreshed.text)")
            let claims = try DecodedToken(refreshed["id_token"].string ?? "").claims
            #expect(claims["amr"] == ["otp", "sms"] && claims["sub"].string == person.uid)
            #expect(try await server.count("SELECT count(*) FROM sessions WHERE kind = 'browser'") == 1)
        }
    }

    @Test func `an old sign-in is confirmed first, also in the request itself`() async throws {
        try await with { server in
            let person = try await APIClient(server).register(at: server)
            var visitor = try await LinkingBrowser(of: person, at: server)
            for _ in 1...2 {
                try await server.letPass(.seconds(400))
                var view = try await visitor.add("phone")
                #expect(view.step == "reauthenticate", "\(view.text)")
                view = try await visitor.browser.submit("password", ["password": person.password], of: view)
                #expect(view.step == "signin" && view.forms[0].actions == ["code"], "\(view.text)")
                try await server.letPass(.seconds(400))
                let late = try await visitor.browser.submit("code", ["identifier": Self.number], of: view)
                #expect(late.step == "reauthenticate" && server.codes(to: Self.number).isEmpty, "\(late.text)")
            }
        }
    }

    @Test func `the person may leave, and goes back to the list`() async throws {
        try await with { server in
            let person = try await APIClient(server).register(at: server)
            var visitor = try await LinkingBrowser(of: person, at: server)
            let view = try await visitor.add("phone")
            let link = try #require(view.text.firstMatch(of: /<a id="cancel" href="([^"]*)"/)?.output.1)
            #expect(try await visitor.browser.open(String(link)).path == "/account/identities")
            let over = try await visitor.browser.open(view.path)
            #expect(over.fault == "request_over" && over.target == PageBrowser.issuer + "/account/identities")
        }
    }

    enum Refused: String, CaseIterable {
        case idle = "SECOND_PROOF_REQUIRED"
        case deleted = "ACCOUNT_DELETED"
        case disabled = "ACCOUNT_DISABLED"
        case full = "LIMIT_REACHED"
        case off = "PROVIDER_DISABLED"
    }

    @Test(arguments: Refused.allCases)
    func `a refusal is shown with its rule's text, and links nothing`(refused: Refused) async throws {
        let limit = refused == .full ? "\nlinking: { maximumIdentities: 1 }" : ""
        try await with(application: limit) { server in
            let api = APIClient(server)
            let person = try await api.register(at: server)
            if refused != .full {
                let other = try await server.caller(Self.number)
                switch refused {
                case .idle:
                    let proof = try await api.challenge(
                        "email", APIClient.newAddress(), at: server, bearer: other.accessToken)
                    let linked = try await api.post(
                        "/auth/identities/email", .object(proof), bearer: other.accessToken)
                    try #require(linked.status == 200, "\(linked.text)")
                    try await server.age("addresses", "verified_at", by: "366 days", where: "kind = 'phone'")
                    try await server.age(
                        "identities", "last_used_at", "created_at", by: "366 days", where: "phone IS NOT NULL")
                case .deleted:
                    try #require(
                        try await api.delete("/auth/account", bearer: other.accessToken).status == 204)
                case .disabled:
                    try await server.execute(
                        "UPDATE accounts SET disabled_at = now() WHERE uid = $1", [.uuid(UUID(uuidString: other.uid))])
                case .full, .off: break
                }
            }
            var visitor = try await LinkingBrowser(of: person, at: server)
            visitor.browser.headers.add(name: "accept-language", value: "fr")
            guard refused != .off else {
                let view = try await visitor.add("scripted")
                #expect(view.status >= 400 && view.text.contains("UNSUPPORTED_PROVIDER"), "\(view.text)")
                return
            }
            let view = try await visitor.link("phone", Self.number)
            #expect(view.status == 400 && view.step == "signin" && view.problem == refused.rawValue, "\(view.text)")
            #expect(view.text.contains("<html lang=\"fr\">") && view.forms[0].actions == ["code"])
            #expect(try await server.providers(of: person.uid) == "email")
            #expect(try await visitor.session(of: person.uid) != nil, "the person is still signed in")
            #expect(try await server.count("SELECT count(*) FROM sessions WHERE kind = 'browser'") == 1)
        }
    }

    @Test(arguments: [false, true])
    func `a code that is sent twice links once, and both answers lead to the list`(isAtOnce: Bool) async throws {
        try await with { server in
            let person = try await APIClient(server).register(at: server)
            var visitor = try await LinkingBrowser(of: person, at: server)
            let (page, code) = try await visitor.askCode("phone", to: Self.number)
            let answers = try await visitor.browser.twice("verify", ["code": code], of: page, isAtOnce: isAtOnce)
            for (view, after) in answers {
                #expect(view.status == 200 && view.path == "/account/identities", "\(view.path) \(view.text)")
                #expect(after.sessions == answers[0].browser.sessions)
            }
            #expect(try await server.providers(of: person.uid) == "email phone")
            #expect(try await server.count("SELECT count(*) FROM sessions WHERE kind = 'browser'") == 1)
        }
    }

    @Test func `a code to link an address is of no use in another browser or to sign in`() async throws {
        try await with { server in
            let api = APIClient(server)
            let person = try await api.register(at: server)
            var visitor = try await LinkingBrowser(of: person, at: server)
            let (page, code) = try await visitor.askCode("phone", to: Self.number)
            var thief = PageBrowser(server)
            #expect(try await thief.open(page.path).fault == "not_your_request")
            let challenge = try #require(
                try await server.text(
                    "SELECT max(challenge_id::text) FROM proofs WHERE kind = 'code' AND session_id IS NOT NULL"))
            let answer = try await api.post(
                "/auth/phone/otp/verify", ["challengeId": .string(challenge), "code": .string(code)])
            expectError(answer, 401, "INVALID_CREDENTIALS")
            #expect(
                try await visitor.browser.submit("verify", ["code": code], of: page).path == "/account/identities")
        }
    }
}

extension PageBrowser {
    /// Sends a form twice with the cookies that the browser has now, and returns both answers with their cookies.
    func twice(
        _ action: String, _ fields: [String: String], of page: View, isAtOnce: Bool
    ) async throws -> [(view: View, browser: PageBrowser)] {
        @Sendable func once() async throws -> (view: View, browser: PageBrowser) {
            var copy = self
            return (try await copy.submit(action, fields, of: page), copy)
        }
        guard isAtOnce else { return [try await once(), try await once()] }
        async let (first, second) = (once(), once())
        return [try await first, try await second]
    }
}
