import Foundation
import NIOHTTP1
import Postgres
import ProviderKit
import Testing

@testable import GatehouseServer

/// Installations of an app, on which people sign in.
extension RelyingParty {
    /// The clients of `clients`, and the app `CSI`, which asks for no press; `keys` are further keys of the app.
    static func instances(_ keys: String = "confirm: false", with clients: String = configuration) -> String {
        clients.replacing("phone, offline_access]", with: "phone, offline_access, account]") + """

              software:
                CSI:
                  name: Company
                  initialAccessTokens: ["\(softwareToken)"]
                  statements: ["\(statement)"]
                  redirectURIs: ["\(appURI)"]
                  scopes: [openid, profile, email, account, native, qr, offline_access]
                  \(keys)
            """
    }

    /// A new installation, and the answer to its registration.
    func install(_ changes: [String: JSONValue] = [:]) async throws -> (app: Self, registration: APIClient.Answer) {
        let registration = try await registerInstance(changes)
        return (try registered(registration), registration)
    }

    /// Signs a person in on the installation, at a new browser.
    func bind(to person: Person, scope: String = "openid profile") async throws -> APIClient.Answer {
        let tokens = try await redeem(code(["scope": scope], cookie: browser(of: person)))
        try #require(tokens.status == 200, "\(tokens.text)")
        return tokens
    }

    /// Asks for a token of the account by the installation's secret alone.
    func credentials(_ scope: String? = nil) async throws -> APIClient.Answer {
        try await post(
            "/oauth/token", ["grant_type": "client_credentials"].merging(scope.map { ["scope": $0] } ?? [:]) { $1 })
    }

    /// A secret with which the app opens a browser session.
    func nativeSecret() async throws -> String {
        let answer = try await credentials("native")
        return try #require(answer["css"].string, "\(answer.text)")
    }
}
