import Foundation
import ProviderKit
import Testing

@testable import GatehouseServer

/// Ways to misuse the way to a provider's pages and back.
struct ProviderPageAttackTests {
    private func with(_ body: @Sendable @escaping (TestServer) async throws -> Void) async throws {
        try await TestServer.with(
            application: RelyingParty.configuration, providers: "scripted: { enabled: true }", body)
    }

    @Test func `somebody else's way back signs nobody in`() async throws {
        try await with { server in
            let (party, evidence) = (RelyingParty(server), VerifiedIdentity.somebody())
            var (attacker, victim) = (PageBrowser(server), PageBrowser(server))
            let page = try await attacker.begin(party)
            let away = try await attacker.follow("scripted", of: page)
            _ = try await victim.begin(party)
            let planted = try await victim.comeBack(from: away, ["code": evidence.proof])
            #expect(planted.status == 400 && victim.sessions == nil, "\(planted.text)")
            #expect(try await victim.open(page.path).fault == "not_your_request")
            #expect(try await victim.open("\(page.path)/with/scripted").fault == "not_your_request")
            // The flow's cookie alone, which another site could set, leads to the attacker's request.
            victim.cookies.merge(attacker.cookies.filter { $0.key.hasPrefix("gatehouse-flow-") }) { $1 }
            let bound = try await victim.comeBack(from: away, ["code": evidence.proof])
            #expect(bound.fault == "not_your_request" && victim.sessions == nil, "\(bound.text)")
        }
    }

    @Test func `the code is in no URL, and nothing accepts it elsewhere`() async throws {
        try await with { server in
            let evidence = VerifiedIdentity.somebody()
            var browser = PageBrowser(server)
            let page = try await browser.begin(RelyingParty(server))
            let away = try await browser.follow("scripted", of: page)
            let asked = try await browser.comeBack(from: away, ["code": evidence.proof])
            #expect(asked.path == page.path && asked.step == "new-or-link")
            let again = try await browser.comeBack(from: away, ["code": evidence.proof])
            #expect(again.status == 400 && again.step != "new-or-link", "the state is used up")
            let state = away.target.flatMap { URLComponents(string: $0) }?.query("state") ?? ""
            let elsewhere = RedirectClient(api: APIClient(server), redirectURI: page.path)
            for code in [state, String(page.path.dropFirst("/signin/".count))] {
                expectError(
                    try await elsewhere.redeem(code, state: state, withoutVerifier: true), 401, "INVALID_TOKEN")
            }
        }
    }

    @Test func `a form that is sent twice opens one account`() async throws {
        try await with { server in
            var browser = PageBrowser(server)
            let page = try await browser.begin(RelyingParty(server))
            let asked = try await browser.present(.somebody(), at: page)
            let views = try await atOnce(4) { [browser] in
                var browser = browser
                return try await browser.submit("create", of: asked)
            }
            #expect(views.allSatisfy { $0.status < 500 }, "\(views.map(\.text))")
            #expect(views.contains { $0.step == "welcome" }, "\(views.map(\.step))")
            #expect(try await server.count("SELECT count(*) FROM accounts") == 1)
            let late = try await browser.submit("create", of: asked)
            #expect(late.status < 500 && late.problem == nil, "\(late.text)")
            #expect(try await server.count("SELECT count(*) FROM accounts") == 1)
        }
    }

    @Test func `two tabs of a request, and two requests, finish by themselves`() async throws {
        try await with { server in
            let (party, evidence) = (RelyingParty(server), VerifiedIdentity.somebody())
            #expect(try await APIClient(server).present(evidence).status == 200)
            var browser = PageBrowser(server)
            let (one, two) = (try await browser.begin(party), try await browser.begin(party))
            let first = try await browser.follow("scripted", of: one)
            let second = try await browser.follow("scripted", of: one)
            let third = try await browser.follow("scripted", of: two)
            #expect(try await browser.comeBack(from: second, ["code": evidence.proof]).code != nil)
            let late = try await browser.comeBack(from: first, ["code": evidence.proof])
            #expect(late.fault == "request_over", "\(late.text)")
            let other = try await browser.comeBack(from: third, ["code": evidence.proof])
            #expect(other.code != nil, "\(other.status) \(other.text)")
            #expect(try await server.count("SELECT count(*) FROM sessions WHERE kind = 'browser'") == 1)
        }
    }

    @Test func `a request that asks for a fresh proof sends people to prove themselves again`() async throws {
        try await with { server in
            let (party, evidence) = (RelyingParty(server), VerifiedIdentity.somebody())
            #expect(try await APIClient(server).present(evidence).status == 200)
            for fresh in [["prompt": "login"], ["max_age": "60"], [:]] {
                var browser = PageBrowser(server)
                let away = try await browser.follow("scripted", of: browser.begin(party, fresh))
                #expect(away.target?.contains("prompt=login") == !fresh.isEmpty, "\(fresh)")
                #expect(try await browser.comeBack(from: away, ["code": evidence.proof, "time": "begin"]).code != nil)
            }
        }
    }

    @Test func `an identity is linked only while the account was proven lately`() async throws {
        try await with { server in
            let person = try await APIClient(server).register(at: server)
            var visitor = try await LinkingBrowser(of: person, at: server)
            try await server.age("sessions", "authenticated_at", by: "1 hour", where: "kind = 'browser'")
            let confirm = try await visitor.add("scripted")
            #expect(confirm.step == "reauthenticate", "\(confirm.text)")
            let other = try await visitor.browser.submit("other", of: confirm)
            #expect(other.step == "signin", "\(other.text)")
            _ = try await visitor.browser.present(.somebody(), at: other)
            #expect(try await server.providers(of: person.uid) == "email")
        }
    }

    @Test func `an app on a device is answered only after a press`() async throws {
        try await with { server in
            let (party, evidence) = (RelyingParty.native(server), VerifiedIdentity.somebody())
            #expect(try await APIClient(server).present(evidence).status == 200)
            var browser = PageBrowser(server)
            let away = try await browser.begin(party, ["provider": "scripted"])
            #expect(away.target?.hasPrefix(ScriptedProvider.page) == true, "\(away.text)")
            let asked = try await browser.comeBack(from: away, ["code": evidence.proof])
            #expect(asked.step == "confirm" && asked.code == nil, "\(asked.text)")
            #expect(try await browser.submit("continue", of: asked).code != nil)
        }
    }
}
