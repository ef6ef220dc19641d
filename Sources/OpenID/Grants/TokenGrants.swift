package import Accounts
internal import Foundation
internal import ProviderKit

/// The token endpoint: exchanges codes, refresh tokens and a client's own credentials for tokens.
package struct TokenGrants: Sendable {
    typealias Store = CodeStore & ClientSessionStore & RefreshStore & SessionEndStore

    /// How long a second presentation of a code counts as a duplicate request; later it counts as theft of the code.
    private static let tolerance: Duration = .seconds(2)

    let store: any Store
    let issuing: TokenIssuing

    /// - Throws: `OAuthError`.
    package func grant(
        _ parameters: RequestParameters, to client: OAuthClient, from connection: Client, by issuer: Issuer
    ) async throws -> TokenAnswer {
        let name = try parameters.required("grant_type")
        guard let grant = OAuthClient.Grant(bytesOf: name) else {
            throw OAuthError(.unsupportedGrantType, "This server does not support the grant_type")
        }
        guard client.grants.contains(grant) else {
            throw OAuthError(.unauthorizedClient, "The client may not use this grant_type")
        }
        return switch grant {
        case .authorizationCode: try await redeem(parameters, for: client, from: connection, by: issuer)
        case .refreshToken: try await refresh(parameters, for: client, by: issuer)
        case .clientCredentials: try await issue(parameters, to: client, by: issuer)
        }
    }

    // MARK: - Codes

    private func redeem(
        _ parameters: RequestParameters, for client: OAuthClient, from connection: Client, by issuer: Issuer
    ) async throws -> TokenAnswer {
        let text = try parameters.required("code")
        let redirectURI = try parameters.required("redirect_uri")
        guard let code = issuing.opaque.parse(text) else { throw OAuthError.invalidGrant }
        let policy = issuer.application.policy.tokens
        let use = CodeUse(
            code: code.hash, client: client, issuer: issuer.url, redirectURI: redirectURI,
            codeChallenge: Self.challenge(of: parameters["code_verifier"]), refreshToken: issuing.opaque.make(),
            refreshLifetime: client.refreshLifetime ?? policy.refreshLifetime, sessionLifetime: policy.sessionLifetime,
            connection: connection, tolerance: Self.tolerance)
        let outcome = try await retryingOnConflict { try await store.use(use, application: issuer.application.id) }
        switch outcome {
        case .opened(let opened): return try await answer(opened, to: use, parameters, for: client, by: issuer)
        case .refused: throw OAuthError.invalidGrant
        case .replayed(let session, let uid):
            _ = try await store.endSession(session, of: uid, because: .codeReplayed, application: issuer.application.id)
            throw OAuthError.invalidGrant
        }
    }

    /// The challenge that the verifier answers; a verifier of a wrong form answers none.
    private static func challenge(of verifier: String?) -> String? {
        guard let verifier else { return nil }
        return (43...128).contains(verifier.utf8.count) ? CodeChallenge.s256(of: verifier) : ""
    }

    private func answer(
        _ opened: OpenedClientSession, to use: CodeUse, _ parameters: RequestParameters, for client: OAuthClient,
        by issuer: Issuer
    ) async throws -> TokenAnswer {
        let granted = opened.scope
        let (scopes, resource) = try Self.target(
            parameters, of: granted, narrowedTo: granted.scopes, settings: issuer.settings)
        let access = try await issuing.accessToken(
            of: opened.grant, granted: granted, scopes: scopes, resource: resource, client: client, issuer: issuer)
        var answer = TokenAnswer(access, refreshToken: nil)
        if granted.scopes.contains(StandardScope.offlineAccess.rawValue) { answer.refreshToken = use.refreshToken.text }
        if scopes.contains(StandardScope.openid.rawValue) {
            let named = opened.account.members(scopes: [String](), named: opened.tokenClaims)
            answer.identityToken = try await issuing.identityToken(
                with: access, nonce: opened.nonce, claims: named, client: client, issuer: issuer)
        }
        return answer
    }

    // MARK: - Refresh tokens

    private func refresh(
        _ parameters: RequestParameters, for client: OAuthClient, by issuer: Issuer
    ) async throws -> TokenAnswer {
        guard let presented = issuing.opaque.parse(try parameters.required("refresh_token")) else {
            throw OAuthError.invalidGrant
        }
        let successor = issuing.opaque.successor(of: presented)
        var rotation = Rotation(
            of: presented, to: successor, by: issuing.opaque, policy: issuer.application.policy.tokens,
            lifetime: client.refreshLifetime)
        rotation.client = (client.id, issuer.url)
        let call = rotation
        let outcome = try await retryingOnConflict { try await store.rotate(call, application: issuer.application.id) }
        guard case .succeeded(let grant) = outcome, let granted = grant.clientScope else {
            throw OAuthError.invalidGrant
        }
        // A scope that the configuration has taken from the client since is not granted any more.
        let available = issuer.settings.scopes(of: client)
        let current = granted.scopes.filter { available.contains($0) }
        let asked = parameters.words("scope")
        guard asked.allSatisfy({ granted.scopes.containsBytes(of: $0) }) else {
            throw OAuthError(.invalidScope, "A refresh cannot ask for more than was granted")
        }
        let narrowed = asked.isEmpty ? current : current.filter { asked.containsBytes(of: $0) }
        guard !narrowed.isEmpty else { throw OAuthError(.invalidScope, "The client may have none of the scopes") }
        let (scopes, resource) = try Self.target(
            parameters, of: granted, narrowedTo: narrowed, settings: issuer.settings)
        let access = try await issuing.accessToken(
            of: grant, granted: granted, scopes: scopes, resource: resource, client: client, issuer: issuer)
        var answer = TokenAnswer(access, refreshToken: successor.text)
        if scopes.contains(StandardScope.openid.rawValue) {
            var named: [String: JSONValue] = [:]
            if !granted.tokenClaims.isEmpty {
                let account = try await store.accountClaims(
                    ofSession: grant.sessionID, client: client.id, application: issuer.application.id)
                named = account?.members(scopes: [String](), named: granted.tokenClaims) ?? [:]
            }
            answer.identityToken = try await issuing.identityToken(
                with: access, nonce: nil, claims: named, client: client, issuer: issuer)
        }
        return answer
    }

    /// The one resource of an access token (RFC 8707, 2.2), and the scopes that apply at it.
    private static func target(
        _ parameters: RequestParameters, of granted: ClientScope, narrowedTo scopes: [String], settings: OpenIDSettings
    ) throws(OAuthError) -> (scopes: [String], resource: String?) {
        let named = parameters.all("resource")
        guard named.count <= 1 else { throw OAuthError(.invalidTarget, "A token is for one resource") }
        if let name = named.first, !granted.resources.containsBytes(of: name) {
            throw OAuthError(.invalidTarget, "The resource was not granted")
        }
        guard named.count == 1 || granted.resources.count <= 1 else {
            throw OAuthError(.invalidTarget, "Several resources were granted; name one of them")
        }
        let resource = named.first ?? granted.resources.first
        let ofOthers = Set(settings.resources.filter { $0.key != resource }.flatMap(\.value.scopes.keys))
        let own = resource.flatMap { settings.resources[$0]?.scopes.keys.map { $0 } } ?? []
        let applicable = resource == nil ? scopes : scopes.filter { !ofOthers.contains($0) || own.contains($0) }
        guard !applicable.isEmpty else { throw OAuthError(.invalidScope, "No scope applies at the resource") }
        return (applicable, resource)
    }

    // MARK: - A client's own tokens

    private func issue(
        _ parameters: RequestParameters, to client: OAuthClient, by issuer: Issuer
    ) async throws -> TokenAnswer {
        let asked = parameters.words("scope")
        let named = parameters.all("resource")
        guard named.count <= 1, named.allSatisfy({ client.resources.containsBytes(of: $0) }) else {
            throw OAuthError(.invalidTarget, "The resource is not one of the client's")
        }
        let fitting = client.resources.filter { resource in
            if let name = named.first { return name.hasSameBytes(as: resource) }
            let scopes = issuer.settings.resources[resource]?.scopes.keys.map { $0 } ?? []
            return asked.isEmpty || asked.contains { scopes.containsBytes(of: $0) }
        }
        guard fitting.count == 1, let resource = fitting.first else {
            throw fitting.isEmpty
                ? OAuthError(.invalidScope, "The client may have none of the scopes")
                : OAuthError(.invalidTarget, "The client has several resources; name one of them")
        }
        let available = (issuer.settings.resources[resource]?.scopes.keys.map { $0 } ?? []).sorted()
        let scopes = asked.isEmpty ? available : available.filter { asked.containsBytes(of: $0) }
        guard asked.isEmpty || !scopes.isEmpty else {
            throw OAuthError(.invalidScope, "The client may have none of the scopes")
        }
        let token = try await issuing.ownToken(of: client, scopes: scopes, resource: resource, issuer: issuer)
        return TokenAnswer(token, refreshToken: nil)
    }
}

extension TokenAnswer {
    fileprivate init(_ access: (text: String, token: ClientAccessToken), refreshToken: String?) {
        self.init(
            accessToken: access.text, expiresIn: access.token.expiresAt - access.token.issuedAt,
            scope: access.token.scope, identityToken: nil, refreshToken: refreshToken)
    }
}
