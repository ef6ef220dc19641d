import Accounts
import AsyncHTTPClient
import Foundation
import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// A browser without scripts: it keeps cookies, follows redirects within the issuer, and posts the forms of its page.
struct PageBrowser: Sendable {
    /// What the browser shows.
    struct View: Sendable {
        let answer: APIClient.Answer
        let path: String

        var status: Int { answer.status }
        var text: String { answer.text }
        /// `data-step`; `nil` if the answer is no page.
        var step: String? { text.firstMatch(of: /<main [^>]*data-step="([a-z-]+)"/).map { String($0.output.1) } }
        /// `data-error` of a page that something cannot go on at.
        var fault: String? { text.firstMatch(of: /<main [^>]*data-error="(\w+)"/).map { String($0.output.1) } }
        /// The code of the problem that a form was refused for.
        var problem: String? {
            text.firstMatch(of: /id="problem" data-code="(\w+)"/).map { String($0.output.1) }
        }
        /// Where the page leads on to, or the answer redirects to.
        var target: String? {
            answer.headers.first(name: "location")
                ?? text.firstMatch(of: /<a id="continue" href="([^"]*)"/).map { String($0.output.1).unescapedHTML }
        }
        var code: String? { target.flatMap { URLComponents(string: $0) }?.query("code") }
        var returnedError: String? { target.flatMap { URLComponents(string: $0) }?.query("error") }
        var errorDescription: String? { target.flatMap { URLComponents(string: $0) }?.query("error_description") }

        /// The forms of the page, with the fields and the actions of each.
        var forms: [(fields: [String: String], actions: [String])] {
            text.matches(of: /(?s)<form method="post"[^>]*>(.*?)<\/form>/).map { form in
                var fields: [String: String] = [:]
                for input in String(form.output.1).matches(of: /<input [^>]*>/) {
                    guard let name = input.output.firstMatch(of: /\sname="(\w+)"/)?.output.1,
                        !input.output.contains("type=\"checkbox\"")
                    else { continue }
                    let value = input.output.firstMatch(of: /\svalue="([^"]*)"/)?.output.1 ?? ""
                    fields[String(name)] = String(value).unescapedHTML
                }
                let actions = String(form.output.1).matches(of: /<button name="action" value="([\w-]+)"/)
                return (fields, actions.map { String($0.output.1) })
            }
        }

        /// Where a link of the page leads, by its id.
        func link(_ id: String) -> String? {
            text.matches(of: /<a id="([^"]*)" href="([^"]*)"/).first { $0.output.1 == id }
                .map { String($0.output.2).unescapedHTML }
        }

        func accepts(_ action: String) -> Bool { forms.contains { $0.actions.contains(action) } }
    }

    static let issuer = "http://127.0.0.1:1"

    let api: APIClient
    var cookies: [String: String] = [:]
    /// The header with which each cookie was set last.
    var cookieLines: [String: String] = [:]
    var headers: HTTPHeaders = [:]

    /// Has connections of its own if `http` is given.
    init(_ server: TestServer, by http: HTTPClient? = nil) { self.init(APIClient(server, by: http)) }

    init(_ api: APIClient) { self.api = api }

    /// The value of the cookie of the browser's sessions.
    var sessions: String? { cookies["gatehouse-sso-demo"] }
    var cookieHeader: String { cookies.map { "\($0.key)=\($0.value)" }.joined(separator: "; ") }

    /// Opens a path, or a URL of the issuer, and follows redirects within the issuer.
    mutating func open(_ place: String) async throws -> View {
        try await send(.GET, place, form: nil)
    }

    /// Posts the first form of a page that has the action, with its fields and others; `account` and `id` choose one of
    /// several forms.
    mutating func submit(
        _ action: String, _ others: [String: String] = [:], of view: View, account: String? = nil, id: String? = nil
    ) async throws -> View {
        let form = try #require(
            view.forms.first { form in
                form.actions.contains(action) && (account == nil || form.fields["account"] == account)
                    && (id == nil || form.fields["id"] == id)
            }, "no form to \(action): \(view.status) \(view.text)")
        let fields = form.fields.merging(others) { $1 }.merging(["action": action]) { $1 }
        return try await send(.POST, view.path, form: fields)
    }

    mutating func send(_ method: HTTPMethod, _ place: String, form: [String: String]?) async throws -> View {
        let sent = form.map(RelyingParty.encoded)
        var view = try await exchange(method, place, form: sent)
        for _ in 0..<10 {
            guard view.status == 303, let next = view.answer.headers.first(name: "location"),
                next.hasPrefix(Self.issuer + "/") || next.hasPrefix("/")
            else { return view }
            view = try await exchange(.GET, next, form: nil)
        }
        throw TimeoutError()
    }

    /// Sends one request, with an encoded form if there is one, and keeps the cookies of the answer.
    ///
    /// A form has the headers that browsers send with forms of the issuer's own pages, unless `headers` has others.
    mutating func exchange(_ method: HTTPMethod, _ place: String, form: String?) async throws -> View {
        var headers = headers
        if !cookies.isEmpty { headers.replaceOrAdd(name: "cookie", value: cookieHeader) }
        if form != nil {
            if headers["content-type"].isEmpty {
                headers.add(name: "content-type", value: "application/x-www-form-urlencoded")
            }
            if headers["origin"].isEmpty { headers.add(name: "origin", value: Self.issuer) }
            if headers["sec-fetch-site"].isEmpty { headers.add(name: "sec-fetch-site", value: "same-origin") }
        }
        let path = Self.path(place)
        let answer = try await api.send(method, path, raw: form.map { Array($0.utf8) }, headers: headers)
        for cookie in answer.headers["set-cookie"] {
            let pair = cookie.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1)
            cookies[String(pair[0])] = pair.count == 2 ? String(pair[1]) : nil
            cookieLines[String(pair[0])] = cookie
        }
        return View(answer: answer, path: path)
    }

    /// The path and query that a browser sends, without the fragment.
    private static func path(_ place: String) -> String {
        (place.hasPrefix(issuer) ? String(place.dropFirst(issuer.count)) : place).prefix { $0 != "#" }.description
    }
}

extension PageBrowser {
    /// Begins an authorization request, and shows where it leads.
    mutating func begin(_ party: RelyingParty, _ parameters: [String: String] = [:]) async throws -> View {
        try await open("\(party.endpoints.authorization)?\(RelyingParty.encoded(party.parameters(parameters)))")
    }

    /// Follows the link of a page to a provider, up to the provider's own page.
    mutating func follow(_ provider: String, of view: View) async throws -> View {
        let link = try #require(view.link("with-\(provider)"), "no link to \(provider): \(view.status) \(view.text)")
        return try await open(link)
    }

    /// Comes back from a provider's page with these parameters, to the page where it leads.
    mutating func comeBack(from away: View, _ parameters: [String: String]) async throws -> View {
        let url = try #require(away.target.flatMap { URLComponents(string: $0) }, "\(away.status) \(away.text)")
        let callback = try #require(url.query("callback") ?? url.query("redirect_uri"), "\(url)")
        let all = ["state": url.query("state") ?? ""].merging(parameters) { $1 }
        return try await open("\(callback)?\(RelyingParty.encoded(all))")
    }

    /// Follows the link to `ScriptedProvider`, and comes back with the evidence.
    mutating func present(_ evidence: VerifiedIdentity, at view: View) async throws -> View {
        try await comeBack(from: follow("scripted", of: view), ["code": evidence.proof])
    }

    /// Signs in with a password at the page of a request.
    mutating func signIn(
        _ person: Person, at view: View, _ others: [String: String] = [:]
    ) async throws -> View {
        try await submit(
            "password", ["identifier": person.email, "password": person.password].merging(others) { $1 }, of: view)
    }

    /// Links evidence that another account presents before the sign-in with a password, and leaves it to that account.
    mutating func linkTooLate(_ evidence: VerifiedIdentity, to person: Person, at view: View) async throws -> View {
        let asked = try await present(evidence, at: view)
        #expect(asked.step == "new-or-link", "\(asked.text)")
        let signIn = try await submit("link", of: asked)
        let other = try Person(try await api.present(evidence), email: "", password: "")
        #expect(other.uid != person.uid)
        let conflict = try await self.signIn(person, at: signIn)
        #expect(conflict.step == "conflict" && conflict.problem == "IDENTITY_IN_USE", "\(conflict.text)")
        return try await submit("keep", of: conflict)
    }
}

extension String {
    /// The text with the entities that templates write replaced.
    var unescapedHTML: String {
        replacing("&lt;", with: "<").replacing("&gt;", with: ">").replacing("&quot;", with: "\"")
            .replacing("&#39;", with: "'").replacing("&amp;", with: "&")
    }
}

extension TestServer {
    /// Waits for mails to an address, and returns the code of the newest.
    func mailedCode(to address: String, count: Int = 1) async throws -> String {
        let mails = try await APIClient(self).mails(to: address, at: self, count: count)
        let lines = try #require(mails.first).text.split(separator: "\n").map(String.init)
        return try #require(lines.first { $0.count == 6 && $0.allSatisfy(\.isNumber) })
    }
}
