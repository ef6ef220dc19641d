import Administration
import Foundation
import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// The page of the link in the mail about a password reset, where the owner keeps or removes identities.
struct ReviewPageTests {
    @Test(arguments: ["", RelyingParty.configuration])
    func `nothing changes before the form is sent, and then the link is used up`(openID: String) async throws {
        try await TestServer.linking(application: openID) { server, client in
            let address = APIClient.newAddress()
            let (person, identity) = try await client.victim(at: server, of: "eve", email: address)
            #expect(try await client.resetPassword(of: person.email, at: server).status == 204)
            let token = try await client.reviewToken(of: person.email, at: server)
            let moved = try await client.send(.GET, "/review?token=\(token)")
            #expect(moved.status == 303 && moved.headers.first(name: "location")?.hasSuffix("/review") == true)
            var browser = PageBrowser(server)
            var view = try await browser.open("/review?token=\(token)")
            #expect(view.status == 200 && view.step == "review" && view.path == "/review" && view.accepts("save"))
            #expect(view.text.contains("Scripted (\(address))") && !view.text.contains(token))
            for choice in ["keep", "remove"] {
                #expect(view.text.contains("name=\"\(choice)\" type=\"checkbox\" value=\"\(identity)\""))
            }
            try expectQuarantined(try await client.present(.somebody("eve")))

            for wrong in [["keep": UUID().uuidString], ["remove": "x"], ["keep": identity, "remove": identity]] {
                view = try await browser.submit("save", wrong, of: view)
                #expect(view.status == 400 && view.problem == "INVALID_PARAMETER" && view.accepts("save"), "\(wrong)")
            }
            #expect(view.text.matches(of: /\schecked>/).count == 2, "what was ticked stays ticked")
            let before = browser
            let done = try await browser.submit("save", ["keep": identity], of: view)
            #expect(done.status == 200 && done.step == "done", "\(done.text)")
            #expect(try await client.present(.somebody("eve"))["user"]["id"].string == person.uid)
            browser = before
            let again = try await browser.submit("save", ["keep": identity], of: view)
            #expect(again.status == 401 && again.problem == "INVALID_TOKEN" && again.forms.isEmpty)
            browser = before
            let shown = try await browser.open("/review")
            #expect(shown.status == 401 && shown.problem == "INVALID_TOKEN")
        }
    }

    @Test func `several identities are removed at once, but not all that can sign in`() async throws {
        try await TestServer.linking { server, client in
            let (person, first) = try await client.victim(at: server, of: "eve")
            _ = try await client.link(.somebody("mallory"), bearer: person.accessToken)
            #expect(try await client.resetPassword(of: person.email, at: server).status == 204)
            let token = try await client.reviewToken(of: person.email, at: server)
            let bearer = try await client.bearer(of: person)
            let identities = try await client.identities(bearer: bearer)
            let ids = identities.compactMap(\.["id"].string)
            #expect(ids.count == 3 && ids.contains(first))
            var browser = PageBrowser(server)
            let view = try await browser.open("/review?token=\(token)")
            let csrf = try #require(view.forms.first?.fields["csrf"])
            func remove(_ ids: [String]) async throws -> PageBrowser.View {
                let fields = ids.map { "remove=\($0)" }.joined(separator: "&")
                let headers: HTTPHeaders = [
                    "content-type": "application/x-www-form-urlencoded", "cookie": browser.cookieHeader,
                    "origin": PageBrowser.issuer,
                ]
                let answer = try await client.send(
                    .POST, "/review", raw: Array("action=save&csrf=\(csrf)&\(fields)".utf8), headers: headers)
                return PageBrowser.View(answer: answer, path: "/review")
            }
            let refused = try await remove(ids)
            #expect(refused.status == 400 && refused.problem == "LAST_USABLE_IDENTITY" && refused.accepts("save"))
            let others = identities.filter { $0["provider"] != "email" }.compactMap(\.["id"].string)
            #expect(try await remove(others).step == "done")
            #expect(try await client.identities(bearer: bearer).map { $0["provider"] } == ["email"])
        }
    }

    @Test func `an identity that has been removed meanwhile is refused as such`() async throws {
        try await TestServer.linking { server, client in
            let (person, identity) = try await client.victim(at: server, of: "eve")
            #expect(try await client.resetPassword(of: person.email, at: server).status == 204)
            let token = try await client.reviewToken(of: person.email, at: server)
            var browser = PageBrowser(server)
            let page = try await browser.open("/review?token=\(token)")
            let removed = try await client.delete(
                "/auth/identities/\(identity)", bearer: client.bearer(of: person))
            #expect(removed.status < 300, "\(removed.text)")
            let refused = try await browser.submit("save", ["remove": identity], of: page)
            #expect(refused.status == 400 && refused.problem == "INVALID_PARAMETER" && refused.accepts("save"))
            #expect(refused.text.contains("does not have one of these ways to sign in any more"), "\(refused.text)")
        }
    }

    @Test func `an identity with a role that the mailbox lacks stays, and the page says why`() async throws {
        try await TestServer.withConsole { server in
            let client = APIClient(server)
            let owner = try await client.register(at: server)
            try await server.grant(.owner, to: owner)
            let identity = try await client.identityID(of: "email", bearer: owner.accessToken)
            let address = APIClient.newAddress()
            let code = try await client.challenge("email", address, at: server, bearer: owner.accessToken)
            let linked = try await client.post("/auth/identities/email", .object(code), bearer: owner.accessToken)
            try #require(linked.status == 200, "\(linked.text)")
            #expect(try await client.resetPassword(of: address, at: server).status == 204)
            let token = try await client.reviewToken(of: address, at: server)
            var browser = PageBrowser(server)
            let page = try await browser.open("/review?token=\(token)")
            let refused = try await browser.submit("save", ["remove": identity], of: page)
            #expect(refused.status == 400 && refused.problem == "INVALID_PARAMETER" && refused.accepts("save"))
            #expect(refused.text.contains("your role as an administrator counts for"), "\(refused.text)")
            #expect(try await client.login(owner.email, APIClient.password).status == 200, "it is not removed")
        }
    }

    @Test func `a form of another site or browser changes nothing`() async throws {
        try await TestServer.linking { server, client in
            let (person, identity) = try await client.victim(at: server, of: "eve")
            #expect(try await client.resetPassword(of: person.email, at: server).status == 204)
            let token = try await client.reviewToken(of: person.email, at: server)
            var browser = PageBrowser(server)
            let view = try await browser.open("/review?token=\(token)")
            var foreign = browser
            foreign.headers.add(name: "sec-fetch-site", value: "cross-site")
            #expect(try await foreign.submit("save", ["keep": identity], of: view).fault == "csrf")
            let forged = try await browser.submit("save", ["keep": identity, "csrf": "x"], of: view)
            #expect(forged.status == 403 && forged.fault == "csrf")
            var elsewhere = PageBrowser(server)
            #expect(try await elsewhere.submit("save", ["keep": identity], of: view).problem == "INVALID_TOKEN")
            try expectQuarantined(try await client.present(.somebody("eve")))
        }
    }
}
