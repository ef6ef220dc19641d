import Foundation
import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// Clients that register themselves.
extension RelyingParty {
    static let initialToken = "an initial access token of the tests, 32 bytes"
    static let softwareToken = "an initial access token of the app, 32 bytes"
    static let statement = "eyJ0eXAiOiJKV1QifQ.eyJzb2Z0d2FyZV9pZCI6IkNTSSJ9.c2ln"
    static let appURI = "com.example.app:/oauth2redirect/example-provider"

    /// Follows the keys of `configuration`.
    static func registration(_ keys: String = "mode: open, pkce: optional") -> String {
        """
        openid:
          clients:
            web:
              name: Photos
              secret: "\(secret)"
              redirectURIs: ["\(redirectURI)"]
              firstParty: true
          registration: { \(keys) }
        """
    }

    /// Two apps; `keys` are further keys of the first one.
    static func software(_ keys: String = "") -> String {
        """
        openid:
          clients:
            web:
              name: Photos
              secret: "\(secret)"
              redirectURIs: ["\(redirectURI)"]
              firstParty: true
          software:
            CSI:
              name: Company
              version: "1"
              initialAccessTokens: ["\(softwareToken)"]
              statements: ["\(statement)"]
              redirectURIs: ["\(appURI)", "https://app.example/cb"]
              scopes: [openid, profile, native, blitz_qr_auth]
              \(keys)
            other:
              name: Other
              initialAccessTokens: ["another \(softwareToken)"]
              statements: ["another statement"]
              redirectURIs: ["com.example.other:/cb"]
        """
    }

    func register(
        _ members: JSONValue, token: String? = nil, headers: HTTPHeaders = [:]
    ) async throws -> APIClient.Answer {
        try await api.send(
            .POST, "/oauth/register", raw: Array(JSONEncoder().encode(members)), bearer: token, headers: headers)
    }

    /// Registers an installation of `CSI` with these members changed; `null` removes one.
    func registerInstance(
        _ changes: [String: JSONValue] = [:], token: String? = RelyingParty.softwareToken, headers: HTTPHeaders = [:]
    ) async throws -> APIClient.Answer {
        let members: [String: JSONValue] = [
            "software_id": "CSI", "device_type": "iphone", "software_statement": .string(Self.statement),
        ]
        return try await register(.object(members.merging(changes) { $1 }), token: token, headers: headers)
    }

    /// The client of a registration's response.
    func registered(_ answer: APIClient.Answer) throws -> Self {
        try #require(answer.status == 201, "\(answer.text)")
        var party = self
        party.client = try #require(answer["client_id"].string)
        party.secret = answer["client_secret"].string
        party.redirectURI = try #require(answer["redirect_uris"].array?.first?.string)
        return party
    }

    /// Reads, changes or deletes a registration.
    func manage(_ method: HTTPMethod, _ answer: APIClient.Answer, token: String? = nil) async throws -> APIClient.Answer
    {
        let url = try #require(answer["registration_client_uri"].string)
        let path = try #require(
            url.hasPrefix(PageBrowser.issuer) ? String(url.dropFirst(PageBrowser.issuer.count)) : nil)
        return try await api.send(
            method, path, raw: method == .PUT ? Array("{}".utf8) : nil,
            bearer: token ?? answer["registration_access_token"].string)
    }
}
