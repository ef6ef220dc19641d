import Foundation
import NIOHTTP1
import ProviderKit
import Testing

/// The time tracking app, whose requests and models are those of its document; every member of a model is required.
struct TimeTrackerApp: Sendable {
    static let redirectURI = "timetracker://oauth/callback"
    /// The keys of an application with the dialect; `settings` are further ones of the dialect.
    static func configuration(_ settings: String = "session: access") -> String {
        """
        redirectURIs: [{ uri: "\(redirectURI)", pkce: false }, "demo://oauth/callback"]
        dialects: { timetracker: { provider: scripted, \(settings) } }
        """
    }

    let api: APIClient

    struct TokenResponse: Decodable, Sendable {
        let accessToken, tokenType: String
        let expiresIn: Int
        let user: User

        enum CodingKeys: String, CodingKey {
            case accessToken = "access_token", tokenType = "token_type", expiresIn = "expires_in", user
        }
    }

    struct User: Decodable, Sendable, Equatable {
        let id, username, email: String
        let fullName: String?

        enum CodingKeys: CodingKey { case id, username, email, fullName }

        init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            (id, username) = (
                try values.decode(String.self, forKey: .id), try values.decode(String.self, forKey: .username)
            )
            email = try values.decode(String.self, forKey: .email)
            #expect(values.contains(.fullName))
            fullName = try values.decodeIfPresent(String.self, forKey: .fullName)
        }
    }

    /// What the app shows, and whether it signs the person out.
    struct Failure: Decodable, Sendable { let error: String }

    private static let headers: HTTPHeaders = ["content-type": "application/json", "accept": "application/json"]

    /// R3: the browser that the app opens.
    func login(_ query: String = "?redirect_uri=\(redirectURI)") async throws -> APIClient.Answer {
        try await api.send(.GET, "/auth/login" + query, headers: ["accept": "text/html"])
    }

    /// R3: opens the browser, signs in at the provider and returns the parameters of the redirect URI.
    func arrive(with evidence: VerifiedIdentity, state: String? = nil) async throws -> URLComponents {
        let sent = try await login("?redirect_uri=\(Self.redirectURI)" + (state.map { "&state=\($0)" } ?? ""))
        #expect(sent.status == 302, "\(sent.text)")
        let cookie = sent.headers.first(name: "set-cookie")?.prefix { $0 != ";" }
        let client = RedirectClient(api: api)
        let flow = RedirectClient.Flow(authorization: sent, url: try sent.redirect, cookie: cookie.map { String($0) })
        return try await client.arrive(flow, with: evidence)
    }

    /// R4.
    func exchange(_ body: JSONValue) async throws -> APIClient.Answer {
        try await api.send(.POST, "/auth/token", raw: Array(JSONEncoder().encode(body)), headers: Self.headers)
    }

    func exchange(_ arrival: URLComponents) async throws -> APIClient.Answer {
        try await exchange(Self.body(arrival))
    }

    static func body(_ arrival: URLComponents, _ changes: [String: JSONValue] = [:]) -> JSONValue {
        let body: [String: JSONValue] = [
            "code": .string(arrival.query("code") ?? ""), "state": .string(arrival.query("state") ?? ""),
            "redirect_uri": .string(redirectURI),
        ]
        return .object(body.merging(changes) { $1 })
    }

    func signIn(_ evidence: VerifiedIdentity) async throws -> TokenResponse {
        let answer = try await exchange(arrive(with: evidence))
        #expect(answer.status == 200, "\(answer.text)")
        return try JSONDecoder().decode(TokenResponse.self, from: Data(answer.body))
    }

    /// R6 and R8.
    func me(_ token: String?, headers: HTTPHeaders = [:]) async throws -> APIClient.Answer {
        var all = Self.headers
        all.add(contentsOf: headers)
        return try await api.send(.GET, "/auth/me", bearer: token, headers: all)
    }

    func logout(_ token: String?) async throws -> APIClient.Answer {
        try await api.send(.POST, "/auth/logout", bearer: token, headers: Self.headers)
    }
}

/// Expects an error that the app can read (R9).
func expectFailure(_ answer: APIClient.Answer, _ status: Int, _ text: String, _ comment: Comment? = nil) {
    #expect(answer.status == status, comment)
    #expect(answer.text == "{\"error\":\"\(text)\"}", comment)
    #expect(answer.headers.first(name: "cache-control") == "no-store", comment)
}
