import Foundation
import ProviderKit
import Synchronization
import Testing

@testable import OpenIDConnectProvider

/// The environment of a test: one issuer, one clock and one redirect flow.
final class World: Sendable {
    static let issuer = "https://id.example"
    static let discoveryURL = issuer + "/.well-known/openid-configuration"
    static let discovery: JSONValue = [
        "issuer": .string(issuer), "authorization_endpoint": "https://id.example/authorize",
        "token_endpoint": "https://id.example/token", "jwks_uri": "https://id.example/jwks",
        "userinfo_endpoint": "https://id.example/userinfo", "id_token_signing_alg_values_supported": ["ES256"],
    ]
    static let claims: JSONValue = [
        "iss": .string(issuer), "sub": "u-1", "aud": "client", "exp": 1_700_003_600, "iat": 1_700_000_000,
        "nonce": "n-once", "email": "Jo@Example.com", "email_verified": true, "name": "Jo Doe",
    ]
    static let flow = RedirectFlow(
        state: "our state", nonce: "n-once", codeVerifier: "verifier", callbackURL: "https://gate.example/back")

    let service = ScriptedService()
    private let seconds = Mutex(1_700_000_000.0)

    init(discovery: JSONValue = World.discovery) {
        service.answer(Self.discoveryURL, discovery)
        service.answer("https://id.example/jwks", service.keys)
    }

    func pass(_ duration: Double) { seconds.withLock { $0 += duration } }

    var context: ProviderContext { context(exposing: []) }

    func context(exposing claims: [String]) -> ProviderContext {
        let now: @Sendable () -> Date = { Date(timeIntervalSince1970: self.seconds.withLock(\.self)) }
        let ports = ProviderPorts(
            http: service, tokens: tokenVerifier(http: service, now: now), signer: NoSigner(), now: now)
        return ProviderContext(
            name: "corp", applicationURL: "https://gate.example", audience: "demo", exposedClaims: claims,
            ports: ports)
    }

    func provider(
        _ change: (inout OpenIDConnectProvider.Settings) -> Void = { _ in }
    ) throws -> OpenIDConnectProvider {
        var settings = OpenIDConnectProvider.Settings(issuer: Self.issuer, clientID: "client", clientSecret: "s p:c")
        change(&settings)
        return try OpenIDConnectProvider(settings: settings, context: context)
    }

    /// Sets the response of the token endpoint.
    func grant(_ claims: JSONValue = World.claims, and answer: [String: JSONValue] = [:]) throws {
        service.answer("https://id.example/token", try tokens(claims, and: answer))
    }

    func tokens(_ claims: JSONValue, and answer: [String: JSONValue] = [:]) throws -> JSONValue {
        let tokens: JSONValue = ["token_type": "Bearer", "id_token": .string(try service.sign(claims))]
        return tokens.with(["access_token": "at"]).with(answer)
    }

    /// Signs in with an ID token whose default claims are extended or replaced by `claims`.
    func signIn(
        with claims: [String: JSONValue] = [:], and answer: [String: JSONValue] = [:],
        to provider: OpenIDConnectProvider, flow: RedirectFlow = World.flow, bringing callback: [String: String] = [:]
    ) async throws -> VerifiedIdentity {
        try grant(Self.claims.with(claims), and: answer)
        let parameters = ["code": "c0de"].merging(callback) { $1 }
        return try await provider.complete(RedirectCallback(parameters: parameters), of: flow)
    }
}

struct NoSigner: TokenSigning {
    func sign(_ claims: [String: JSONValue], key: String, keyID: String) throws -> String {
        throw UnreadableKeys(reason: "are not used here")
    }
}

extension VerifiedIdentity {
    /// The e-mail address as `address`, `address verified` or `address verified authoritative`.
    var email: String? { claim(.email) }
    var phone: String? { claim(.phone) }

    private func claim(_ kind: Address.Kind) -> String? {
        addresses.first { $0.address.kind == kind }.map { claim in
            let words = [
                claim.address.value, claim.isVerified ? "verified" : nil,
                claim.isAuthoritative ? "authoritative" : nil,
            ]
            return words.compactMap(\.self).joined(separator: " ")
        }
    }
}

extension String {
    /// The query's parameters.
    var query: [String: String] {
        let items = URLComponents(string: self)?.queryItems ?? []
        return Dictionary(items.map { ($0.name, $0.value ?? "") }) { $1 }
    }
}
