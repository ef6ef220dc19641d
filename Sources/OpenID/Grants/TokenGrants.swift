package import Accounts
internal import Foundation
internal import ProviderKit

/// The token endpoint: exchanges codes, refresh tokens and a client's own credentials for tokens.
package struct TokenGrants: Sendable {
    typealias Store = CodeStore & ClientSessionStore & MessageOutbox & OwnerContactStore & RefreshStore
        & SessionEndStore & TransactionalStore

    /// How long a second presentation of a code counts as a duplicate request; later it counts as theft of the code.
    private static let tolerance: Duration = .seconds(2)

    let store: any Store
    let devices: DeviceGrants
    let issuing: TokenIssuing
    let native: NativeSignIn

    /// - Throws: `OAuthError`.
    package func grant(
        _ parameters: RequestParameters, to client: OAuthClient, from connection: Client, by issuer: Issuer
    ) async throws -> TokenResponse {
        let name = try parameters.required("grant_type")
        guard let grant = OAuthClient.Grant(bytesOf: name) else {
            throw OAuthError(.unsupportedGrantType, "This server does not support the grant_type")
        }
        // The console redeems its codes itself, and has no tokens.
        guard client.grants.contains(grant), !client.id.hasSameBytes(as: OAuthClient.consoleID) else {
            if grant == .authorizationCode { try await useUp(codeOf: parameters, by: client, at: issuer) }
            throw OAuthError(.unauthorizedClient, "The client may not use this grant_type")
        }
        return switch grant {
        case .authorizationCode: try await redeem(parameters, for: client, by: issuer)
        case .refreshToken: try await refresh(parameters, for: client, by: issuer)
        case .clientCredentials:
            if let instance = client.instance {
                try await issue(parameters, to: instance, of: client, by: issuer)
            } else {
                try await issue(parameters, to: client, by: issuer)
            }
        case .deviceCode: try await connect(parameters, for: client, from: connection, by: issuer)
        }
    }

    // MARK: - Codes

    private func redeem(
        _ parameters: RequestParameters, for client: OAuthClient, by issuer: Issuer
    ) async throws -> TokenResponse {
        let (use, opened) = try await use(codeOf: parameters, for: client, by: issuer)
        let granted = use.target.kept(of: opened.scope, isBorrowed: opened.grant.isBorrowed)
        let isOffline = granted.scopes.contains(StandardScope.offlineAccess.rawValue)
        return try await answer(
            for: opened.grant, granted: granted, target: use.target, nonce: opened.nonce,
            refreshToken: isOffline ? use.refreshToken : nil, to: client, by: issuer)
    }

    /// Redeems a code of a client that this server is itself: it gets the session, and no tokens.
    ///
    /// - Throws: `OAuthError`.
    package func openSession(
        by parameters: RequestParameters, for client: OAuthClient, by issuer: Issuer
    ) async throws -> SessionGrant {
        try await use(codeOf: parameters, for: client, by: issuer).opened.grant
    }

    private func use(
        codeOf parameters: RequestParameters, for client: OAuthClient, by issuer: Issuer
    ) async throws -> (use: CodeUse, opened: OpenedClientSession) {
        let text = try parameters.required("code")
        guard let code = issuing.opaque.parse(text) else { throw OAuthError.invalidGrant }
        let policy = issuer.application.policy.tokens
        let use = CodeUse(
            code: code.hash, client: client, issuer: issuer.url, redirectURI: parameters["redirect_uri"] ?? "",
            codeChallenge: Self.challenge(of: parameters["code_verifier"]),
            refreshToken: issuing.opaque.make().ofClient,
            refreshLifetime: client.refreshLifetime ?? policy.refreshLifetime, sessionLifetime: policy.sessionLifetime,
            instanceIdle: issuer.software(ofInstance: client.id)?.idle,
            target: Self.target(parameters, of: client, settings: issuer.settings), tolerance: Self.tolerance)
        let outcome = try await retryingOnConflict {
            try await Self.use(use, in: store, application: issuer.application.id)
        }
        switch outcome {
        case .opened(let opened): return (use, opened)
        case .refused:
            // Without redirect_uri the error is invalid_request; the code is used up all the same.
            _ = try parameters.required("redirect_uri")
            throw OAuthError.invalidGrant
        case .unsuitable(let scope, let isBorrowed):
            _ = try use.target.chosen(from: scope, isBorrowed: isBorrowed)
            throw OAuthError.invalidGrant
        case .replayed(let session, let uid):
            _ = try await store.endSession(session, of: uid, because: .codeReplayed, application: issuer.application.id)
            throw OAuthError.invalidGrant
        }
    }

    /// Consumes the code that a client presents without having the grant, if the client has authenticated itself.
    private func useUp(
        codeOf parameters: RequestParameters, by client: OAuthClient, at issuer: Issuer
    ) async throws {
        guard !client.isPublic else { return }
        // Without `redirect_uri`, the code is consumed and opens no session.
        let code = RequestParameters(["code": parameters.all("code")])
        do { _ = try await use(codeOf: code, for: client, by: issuer) } catch is OAuthError {}
    }

    /// The challenge that the verifier answers; a verifier of a wrong form answers none.
    private static func challenge(of verifier: String?) -> String? {
        guard let verifier else { return nil }
        return (43...128).contains(verifier.utf8.count) ? CodeChallenge.s256(of: verifier) : ""
    }

    /// Signs the tokens of a grant, of which the client may still have `granted`.
    private func answer(
        for grant: SessionGrant, granted: ClientScope, target: TokenTarget, nonce: String?,
        refreshToken: OpaqueToken?, to client: OAuthClient, by issuer: Issuer
    ) async throws -> TokenResponse {
        let (scopes, resource) = try target.chosen(from: granted, isBorrowed: grant.isBorrowed)
        let access = try await issuing.accessToken(
            of: grant, granted: granted, scopes: scopes, resource: resource, client: client, issuer: issuer)
        var answer = TokenResponse(access, refreshToken: refreshToken?.text)
        if scopes.contains(StandardScope.openid.rawValue) {
            let named = granted.account?.members(scopes: [String](), named: granted.tokenClaims)
            answer.identityToken = try await issuing.identityToken(
                with: access, nonce: nonce, claims: named ?? [:], client: client, issuer: issuer)
        }
        answer.nativeSecret = try await nativeSecret(for: scopes, of: grant, orElse: .invalidGrant, at: issuer)
        return answer
    }

    // MARK: - Devices

    private func connect(
        _ parameters: RequestParameters, for client: OAuthClient, from connection: Client, by issuer: Issuer
    ) async throws -> TokenResponse {
        guard let code = issuing.opaque.parse(try parameters.required("device_code")) else {
            throw OAuthError.invalidGrant
        }
        let target = Self.target(parameters, of: client, settings: issuer.settings)
        let (grant, scope, refreshToken) = try await devices.poll(
            code, for: client, from: connection, target: target, by: issuer)
        let granted = target.kept(of: scope, isBorrowed: grant.isBorrowed)
        let isOffline = granted.scopes.contains(StandardScope.offlineAccess.rawValue)
        return try await answer(
            for: grant, granted: granted, target: target, nonce: nil, refreshToken: isOffline ? refreshToken : nil,
            to: client, by: issuer)
    }

    // MARK: - Refresh tokens

    private func refresh(
        _ parameters: RequestParameters, for client: OAuthClient, by issuer: Issuer
    ) async throws -> TokenResponse {
        let opaque = issuing.opaque
        guard let presented = opaque.parse(try parameters.required("refresh_token")) else {
            throw OAuthError.invalidGrant
        }
        let successor = opaque.successor(of: presented)
        var rotation = Rotation(
            of: presented.ofClient, to: successor.ofClient, then: opaque.successor(of: successor).ofClient,
            policy: issuer.application.policy.tokens, lifetime: client.refreshLifetime)
        rotation.client = (client.id, issuer.url)
        rotation.target = Self.target(parameters, of: client, settings: issuer.settings)
        let further = try Self.furtherScope(parameters.words("scope"), of: client, settings: issuer.settings)
        rotation.target.scopes = further == nil ? parameters.words("scope") : []
        let call = rotation
        let outcome = try await retryingOnConflict { try await store.rotate(call, application: issuer.application.id) }
        if case .unsuitable(let scope, let isBorrowed) = outcome {
            _ = try call.target.chosen(from: scope, isBorrowed: isBorrowed)
        }
        guard case .succeeded(let grant) = outcome, let scope = grant.clientScope else { throw OAuthError.invalidGrant }
        var granted = call.target.kept(of: scope, isBorrowed: grant.isBorrowed)
        if let further { (granted.scopes, granted.resources, granted.claims) = ([further], [], []) }
        // The statement has compared them with the grant: a scope that was withdrawn since is left out.
        var target = call.target
        target.scopes.removeAll { !granted.scopes.containsBytes(of: $0) }
        return try await answer(
            for: grant, granted: granted, target: target, nonce: nil, refreshToken: successor, to: client,
            by: issuer)
    }

    /// What the client asks for and may have by the present configuration, but for the scopes of a refresh.
    private static func target(
        _ parameters: RequestParameters, of client: OAuthClient, settings: OpenIDSettings
    ) -> TokenTarget {
        var target = TokenTarget()
        target.needsConsent = !client.isFirstParty
        let named = parameters.all("resource")
        // No resource has an empty name, so that several are refused like one that was not granted.
        target.resource = named.count > 1 ? "" : named.first
        var all = settings.grantable(to: client)
        if !client.grants.contains(.refreshToken) { all.remove(StandardScope.offlineAccess.rawValue) }
        for resource in [""] + client.resources {
            let own = settings.scopes(ofResource: resource)
            let ofOthers = resource.isEmpty ? [] : settings.resources.values.flatMap(\.scopes.keys)
            let scopes = all.filter { own.contains($0) || !ofOthers.contains($0) }
            // Sorted, so that equal targets are equal: refreshes with the same target share statements.
            if !scopes.isEmpty { target.available[resource] = scopes.sorted() }
        }
        return target
    }

    // MARK: - A client's own tokens

    private func issue(
        _ parameters: RequestParameters, to client: OAuthClient, by issuer: Issuer
    ) async throws -> TokenResponse {
        let asked = parameters.words("scope")
        let named = parameters.all("resource")
        guard named.count <= 1, named.allSatisfy({ client.resources.containsBytes(of: $0) }) else {
            throw OAuthError(.invalidTarget, "The resource is not one of the client's")
        }
        let fitting = client.resources.filter { resource in
            if let name = named.first { return name.hasSameBytes(as: resource) }
            let scopes = issuer.settings.scopes(ofResource: resource)
            return asked.isEmpty || asked.contains { scopes.containsBytes(of: $0) }
        }
        guard fitting.count == 1, let resource = fitting.first else {
            throw fitting.isEmpty
                ? OAuthError.noScope
                : OAuthError(.invalidTarget, "The client has several resources; name one of them")
        }
        let available = issuer.settings.scopes(ofResource: resource).sorted()
        let scopes = asked.isEmpty ? available : available.filter { asked.containsBytes(of: $0) }
        guard asked.isEmpty || !scopes.isEmpty else { throw OAuthError.noScope }
        let token = try await issuing.ownToken(of: client, scopes: scopes, resource: resource, issuer: issuer)
        return TokenResponse(token, refreshToken: nil)
    }
}

extension TokenResponse {
    init(_ access: (text: String, token: ClientAccessToken), refreshToken: String?) {
        self.init(
            accessToken: access.text, expiresIn: access.token.expiresAt - access.token.issuedAt,
            scope: access.token.scope, identityToken: nil, refreshToken: refreshToken)
    }
}

extension OpaqueToken {
    /// The token with the hash by which a client's refresh token is stored.
    ///
    /// It differs from that of the REST interface's tokens. A server of the version before clients, which can't tell them
    /// apart, therefore finds no client's token.
    var ofClient: OpaqueToken { OpaqueToken(text: text, hash: Digest.sha256(of: "client\n\(text)")) }
}
