import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import ProviderKit
import Testing

/// An app that signs people in through a provider's pages.
struct RedirectClient: Sendable {
    let api: APIClient
    var provider = "scripted"
    var redirectURI = "demo://oauth/callback"
    let verifier = "verifier-" + UUID().uuidString + UUID().uuidString

    /// A flow that has been started with a redirect to the provider.
    struct Flow: Sendable {
        let authorization: APIClient.Answer
        /// The URL of the provider's page.
        let url: URLComponents
        /// `name=value`, as a browser would send it back.
        let cookie: String?

        var state: String { url.query("state") ?? "" }
    }

    func authorize(
        _ parameters: [String: String] = [:], omitting: Set<String> = [], bearer: String? = nil
    ) async throws -> APIClient.Answer {
        var query = [
            "redirect_uri": redirectURI, "code_challenge": CodeChallenge.s256(of: verifier),
            "code_challenge_method": "S256", "mode": "json",
        ]
        query.merge(parameters) { $1 }
        for name in omitting { query[name] = nil }
        let text = query.map { "\($0.key)=\($0.value.formEncoded)" }.joined(separator: "&")
        return try await api.get("/auth/oauth/\(provider)/authorize?\(text)", bearer: bearer)
    }

    /// Begins a flow as an app that opens the browser itself, with these members of the body.
    func post(_ members: [String: JSONValue], bearer: String? = nil) async throws -> APIClient.Answer {
        let body: [String: JSONValue] = [
            "redirect_uri": .string(redirectURI), "code_challenge": .string(CodeChallenge.s256(of: verifier)),
        ]
        return try await api.post(
            "/auth/oauth/\(provider)/authorize", .object(body.merging(members) { $1 }), bearer: bearer)
    }

    /// The members of a call that redeems the code with which a flow came back.
    func proof(of arrival: URLComponents, verifier: String? = nil) -> [String: JSONValue] {
        [
            "code": .string(arrival.query("code") ?? ""), "state": .string(arrival.query("state") ?? ""),
            "redirect_uri": .string(redirectURI), "codeVerifier": .string(verifier ?? self.verifier),
        ]
    }

    func begin(
        _ parameters: [String: String] = [:], omitting: Set<String> = [], bearer: String? = nil
    ) async throws -> Flow {
        try flow(await authorize(parameters, omitting: omitting, bearer: bearer))
    }

    /// The flow that an answer begins.
    func flow(_ answer: APIClient.Answer) throws -> Flow {
        let location = answer.headers.first(name: "location") ?? answer["url"].string
        let url = try #require(location.flatMap { URLComponents(string: $0) }, "\(answer.status) \(answer.text)")
        let cookie = answer.headers.first(name: "set-cookie")?.prefix { $0 != ";" }
        return Flow(authorization: answer, url: url, cookie: cookie.map { String($0) })
    }

    /// Sends a browser's request with these parameters to the callback.
    func callback(
        _ flow: Flow, _ parameters: [String: String], cookie: String? = nil, isForm: Bool = false,
        headers: HTTPHeaders = [:]
    ) async throws -> APIClient.Answer {
        let all = ["state": flow.state].merging(parameters) { $1 }
        let text = all.map { "\($0.key)=\($0.value.formEncoded)" }.joined(separator: "&")
        let path = "/api/v1/auth/oauth/\(provider)/callback"
        var headers = headers
        if let cookie = cookie ?? flow.cookie { headers.add(name: "cookie", value: cookie) }
        guard isForm else { return try await api.send(.GET, path + "?" + text, headers: headers) }
        headers.add(name: "content-type", value: "application/x-www-form-urlencoded")
        return try await api.send(.POST, path, raw: Array(text.utf8), headers: headers)
    }

    /// Returns the redirect URI's query that the callback redirects to.
    func arrive(
        _ flow: Flow, with evidence: VerifiedIdentity, _ parameters: [String: String] = [:]
    ) async throws -> URLComponents {
        let answer = try await callback(flow, ["code": evidence.proof].merging(parameters) { $1 })
        #expect(answer.status == 302, "\(answer.text)")
        return try answer.redirect
    }

    func redeem(
        _ code: String?, state: String? = nil, verifier: String? = nil, redirectURI: String? = nil,
        withoutVerifier: Bool = false, remember: Bool? = nil
    ) async throws -> APIClient.Answer {
        var body: [String: JSONValue] = [
            "code": .string(code ?? ""), "redirect_uri": .string(redirectURI ?? self.redirectURI),
        ]
        body["state"] = state.map { .string($0) }
        body["remember"] = remember.map { .bool($0) }
        body["codeVerifier"] = withoutVerifier ? nil : .string(verifier ?? self.verifier)
        return try await api.post("/auth/token", .object(body))
    }

    /// Runs the whole flow, from its start to the redeemed code.
    func signIn(_ evidence: VerifiedIdentity) async throws -> APIClient.Answer {
        try await redeem(arrive(begin(), with: evidence).query("code"))
    }
}

extension URLComponents {
    func query(_ name: String) -> String? {
        queryItems?.first { $0.name == name }?.value
    }
}

extension APIClient.Answer {
    /// The URL in the response's `Location` header.
    var redirect: URLComponents {
        get throws {
            try #require(
                headers.first(name: "location").flatMap { URLComponents(string: $0) }, "\(status) \(text)")
        }
    }
}

extension APIClient {
    /// Signs in with evidence that `ScriptedProvider` accepts.
    func present(_ evidence: VerifiedIdentity, to provider: String? = nil) async throws -> Answer {
        var body: [String: JSONValue] = ["proof": .string(try evidence.proof)]
        body["provider"] = provider.map { .string($0) }
        return try await post("/auth/scripted", .object(body))
    }
}
