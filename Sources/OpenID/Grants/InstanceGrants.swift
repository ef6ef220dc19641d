internal import Accounts
internal import Foundation
internal import ProviderKit

/// What installations of an app do in their own way: each has a secret, with which it goes on for the account that has
/// signed in on it.
extension TokenGrants {
    /// Consumes a code, and opens or moves the session that it is for.
    ///
    /// If somebody else has signed in on an installation before, that session ends, and its owner is notified.
    static func use(
        _ code: CodeUse, in store: some Store, application: Application.ID
    ) async throws -> CodeUseOutcome {
        guard code.instanceIdle != nil else { return try await store.use(code, application: application) }
        return try await store.transaction { store in
            let outcome = try await store.use(code, application: application)
            guard case .opened(let opened) = outcome, let replaced = opened.replaced else { return outcome }
            try await store.endSessions(
                .one(replaced.session), of: replaced.account, because: .rebound, application: application)
            try await OwnerNotices(store: store, application: application).send(
                .appRebound, toOwnerOf: replaced.account, provider: code.client.name)
            return outcome
        }
    }

    /// Issues an access token of the account that has signed in on an installation.
    ///
    /// The token says when and how the person signed in; that the app has asked for it proves nothing about the person.
    func issue(
        _ parameters: RequestParameters, to instance: ClientInstance, of client: OAuthClient, by issuer: Issuer
    ) async throws -> TokenResponse {
        guard let session = instance.signedIn else {
            throw OAuthError(.unauthorizedClient, "This installation has no sign-in yet")
        }
        guard parameters.all("resource").isEmpty else {
            throw OAuthError(.invalidTarget, "An installation of an app has no resources")
        }
        var available = issuer.settings.grantable(to: client)
        available.remove(StandardScope.offlineAccess.rawValue)
        if !client.isFirstParty { available.formIntersection(session.consented) }
        if session.grant.isBorrowed { available.subtract(StandardScope.lending) }
        let scopes = StandardScope.ofInstance(asking: parameters.words("scope"), from: available)
        guard !scopes.isEmpty else { throw OAuthError.noScope }
        let granted = ClientScope(scopes: scopes, resources: [], claims: [], isGuest: session.isGuest)
        let access = try await issuing.accessToken(
            of: session.grant, granted: granted, scopes: scopes, resource: nil, client: client, issuer: issuer)
        var answer = TokenResponse(access, refreshToken: nil)
        answer.nativeSecret = try await nativeSecret(
            for: scopes, of: session.grant, orElse: .invalidClient, at: issuer)
        return answer
    }

    /// The one scope that an installation may ask for at a refresh although it was not granted; `nil` for others.
    /// - Throws: `OAuthError` if the session is borrowed.
    static func furtherScope(
        _ scopes: [String], of client: OAuthClient, settings: OpenIDSettings
    ) throws(OAuthError) -> String? {
        guard let instance = client.instance, scopes.count == 1, let scope = scopes.first,
            StandardScope.isLending(scope), settings.grantable(to: client).contains(scope)
        else { return nil }
        guard instance.signedIn?.grant.isBorrowed == false else { throw .noScope }
        return scope
    }

    /// The secret with which the app opens a browser session, if the scopes contain `native`.
    /// - Throws: `error` if the session has ended meanwhile.
    func nativeSecret(
        for scopes: [String], of grant: SessionGrant, orElse error: OAuthError, at issuer: Issuer
    ) async throws -> String? {
        guard scopes.containsBytes(of: StandardScope.native.rawValue) else { return nil }
        guard
            case .issued(let secret) = try await native.issue(for: grant.sessionID, application: issuer.application.id)
        else { throw error }
        return secret
    }
}

extension StandardScope {
    /// The scopes of an installation's own token, those that it asks for or, without any, the usual ones.
    ///
    /// `openid` is added to scopes that give claims.
    fileprivate static func ofInstance(asking asked: [String], from available: Set<String>) -> [String] {
        let known = allCases.map(\.rawValue).filter(available.contains)
        var scopes =
            asked.isEmpty
            ? known.filter { !isLending($0) } : asked.filter { available.containsBytes(of: $0) }
        let hasClaims = [StandardScope.profile, .email, .phone].contains { scopes.containsBytes(of: $0.rawValue) }
        if hasClaims, available.contains(openid.rawValue), !scopes.containsBytes(of: openid.rawValue) {
            scopes.insert(openid.rawValue, at: 0)
        }
        return scopes
    }
}
