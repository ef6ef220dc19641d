import Foundation
import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// Requests that a client pushes, and how browsers may bring them.
struct PushedRequestTests {
    private func push(_ party: RelyingParty, _ others: [String: String] = [:]) async throws -> String {
        var form = party.parameters(others)
        form["client_id"] = nil
        let pushed = try await party.post("/oauth/par", form)
        return try #require(pushed["request_uri"].string, "\(pushed.text)")
    }

    private func place(_ uri: String, client: String) -> String {
        "/oauth/authorize?client_id=\(client)&request_uri=\(uri.formEncoded)"
    }

    @Test func `a wrong client does not take the request away from the right one`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let (party, ada) = (RelyingParty(server), try await APIClient(server).register(at: server))
            let uri = try await push(party)
            var other = PageBrowser(server)
            for client in ["spa", "nobody", ""] {
                #expect(try await other.open(place(uri, client: client)).fault == "invalid_request_uri", "\(client)")
            }
            var browser = PageBrowser(server)
            let page = try await browser.open(place(uri, client: "web"))
            #expect(page.step == "signin")
            #expect(try await other.open(place(uri, client: "web")).fault == "invalid_request_uri")
            #expect(try await browser.signIn(ada, at: page).code != nil)
            #expect(try await browser.open(place(uri, client: "web")).fault == "invalid_request_uri", "it is over")
        }
    }

    @Test func `a request that was refused is over`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let party = RelyingParty(server)
            let uri = try await push(party, ["prompt": "none"])
            var browser = PageBrowser(server)
            #expect(try await browser.open(place(uri, client: "web")).returnedError == "login_required")
            let cookie = try await party.browser(of: party.api.register(at: server))
            browser.cookies["gatehouse-sso-demo"] = cookie.split(separator: "=").last.map(String.init)
            #expect(try await browser.open(place(uri, client: "web")).fault == "invalid_request_uri")
        }
    }

    @Test func `a pushed request lasts a minute, and once it is brought as long as any`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let party = RelyingParty(server)
            let (brought, left) = (try await push(party), try await push(party))
            var browser = PageBrowser(server)
            #expect(try await browser.open(place(brought, client: "web")).step == "signin")
            try await server.age("authorization_requests", "expires_at", by: "61 seconds")
            #expect(try await browser.open(place(brought, client: "web")).step == "signin")
            #expect(try await browser.open(place(left, client: "web")).fault == "invalid_request_uri")
            try await server.age("authorization_requests", "expires_at", by: "30 minutes")
            #expect(try await browser.open(place(brought, client: "web")).fault == "invalid_request_uri")
        }
    }

    @Test func `a client that must push its requests gets no other answered`() async throws {
        let configuration = RelyingParty.configuration.replacing(
            "name: Photos", with: "name: Photos\n      par: required")
        try await TestServer.with(application: configuration) { server in
            let party = RelyingParty(server)
            let cookie = try await party.browser(of: party.api.register(at: server))
            for isForm in [false, true] {
                let answer = try await party.authorize(cookie: cookie, isForm: isForm)
                #expect(answer.returned("error") == "invalid_request" && answer.returned("code") == nil)
            }
            let path = place(try await push(party), client: "web")
            #expect(try await party.api.send(.GET, path, headers: ["cookie": cookie]).returned("code") != nil)
            #expect(try await server.count("SELECT count(*) FROM authorization_requests WHERE expires_at > now()") == 0)
        }
    }

    @Test func `what a request demands cannot be taken out by the person`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let (party, ada) = (RelyingParty(server), try await APIClient(server).register(at: server))
            var browser = PageBrowser(server)
            _ = try await browser.signIn(ada, at: browser.begin(party))
            let without = "&prompt=none&max_age=99999&scope=openid&claims=%7B%7D&acr_values=0"
            let essential = #"{"id_token":{"acr":{"essential":true,"values":["2"]}}}"#
            for (demand, step) in [(["prompt": "login"], "reauthenticate"), (["max_age": "0"], "reauthenticate")] {
                let pushed = try await browser.open(place(push(party, demand), client: "web") + without)
                #expect(pushed.step == step, "\(demand)")
                for path in [pushed.path, try await browser.begin(party, demand).path] {
                    let page = try await browser.open("\(path)?\(without)")
                    #expect(page.step == step, "\(demand)")
                    let posted = try await browser.submit(
                        "password", ["password": "wrong", "prompt": "none"], of: page)
                    #expect(posted.step == step && posted.code == nil, "\(demand)")
                }
                // The same request again, after a proof in another one.
                _ = try await browser.submit("password", ["password": ada.password], of: pushed)
                #expect(try await browser.begin(party, demand).step == step, "\(demand)")
            }
            let level = try await browser.open(place(push(party, ["claims": essential]), client: "web") + without)
            #expect(level.returnedError == "unmet_authentication_requirements")
        }
    }

    @Test func `a form that brings a pushed request is answered by a redirect, which comes with the cookies`()
        async throws
    {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let party = RelyingParty(server)
            let cookie = try await party.browser(of: party.api.register(at: server))
            let uri = try await push(party)
            let form = RelyingParty.encoded(["client_id": "web", "request_uri": uri])
            let headers: HTTPHeaders = ["content-type": "application/x-www-form-urlencoded"]
            let posted = try await party.api.send(.POST, "/oauth/authorize", raw: Array(form.utf8), headers: headers)
            #expect(posted.status == 303 && posted.headers["set-cookie"].isEmpty)
            #expect(posted.returned("request_uri") == uri && posted.returned("client_id") == "web")
            let answer = try await party.api.send(.GET, place(uri, client: "web"), headers: ["cookie": cookie])
            #expect(answer.returned("code") != nil, "\(answer.headers)")
        }
    }

    @Test func `a POST may have its parameters in the query, but not in both places`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let party = RelyingParty(server)
            let query = RelyingParty.encoded(party.parameters())
            let headers: HTTPHeaders = ["content-type": "application/x-www-form-urlencoded"]
            let path = "/oauth/authorize?\(query)"
            let alone = try await party.api.send(.POST, path, raw: [], headers: headers)
            #expect(alone.status == 303 && alone.returned("request_uri") != nil, "\(alone.text)")
            let both = try await party.api.send(.POST, path, raw: Array("state=x".utf8), headers: headers)
            #expect(both.status == 400 && both.text.contains("data-error=\"invalid_request\""))
        }
    }

    @Test func `a hint that is no address only fills in the page`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let party = RelyingParty(server)
            let cookie = try await party.browser(of: party.api.register(at: server))
            #expect(try await party.authorize(["login_hint": "Ada"], cookie: cookie).returned("code") != nil)
            var browser = PageBrowser(server)
            let page = try await browser.begin(party, ["login_hint": "Ada"])
            #expect(page.forms.first?.fields["identifier"] == "Ada")
        }
    }

    @Test func `a browser has twenty open requests`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            var browser = PageBrowser(server)
            let first = try await browser.begin(RelyingParty(server))
            for _ in 0..<20 { _ = try await browser.begin(RelyingParty(server)) }
            #expect(
                try await server.count("SELECT count(*) FROM authorization_requests WHERE expires_at > now()") == 20)
            #expect(try await browser.open(first.path).fault == "request_over")
        }
    }
}
