internal import Accounts
internal import Foundation
internal import ProviderKit

/// The tokens of the application's REST interface, which the app's own back end may inspect.
extension TokenInspection {
    /// What the client may know about an access token or a session bearer of the API; `nil` if the token is not active,
    /// or the client does not inspect the application's audience.
    ///
    /// The members never describe the person. The back end of an app asks because the app is used, so the call is a use
    /// of the session bearer.
    func introspectForAPI(
        _ text: String, by client: OAuthClient, at issuer: Issuer
    ) async throws -> [String: JSONValue]? {
        let application = issuer.application
        guard client.introspects.containsBytes(of: application.audience) else { return nil }
        var members: [String: JSONValue]?
        if SessionBearer.isForm(of: text) {
            members = try await session(ofBearer: text, in: application)?.members(in: application)
        } else {
            members = try await ofAPI(text, at: issuer)?.members
        }
        counts.add(isActive: members != nil, client: client.id, application: application.id, at: issuing.time.now())
        return members
    }

    /// The claims of an access token of the API, if it is one and its session is live.
    func ofAPI(_ text: String, at issuer: Issuer) async throws -> AccessTokenClaims? {
        let application = issuer.application
        guard let claims = try? await access.verify(text, for: application) else { return nil }
        let token = SessionToken(
            sessionID: claims.sessionID, issuedAt: claims.issuedAt, generation: claims.generation)
        let isEnded = try await revocations.isRevoked(token, at: issuing.time.now(), application: application.id)
        return isEnded ? nil : claims
    }

    private func session(ofBearer text: String, in application: Application) async throws -> BearerSession? {
        guard let bearer = SessionBearer.parse(text, by: issuing.opaque) else { return nil }
        return try await store.session(ofBearer: bearer.hash, application: application.id)
    }
}

extension AccessTokenClaims {
    fileprivate var members: [String: JSONValue] {
        var members: [String: JSONValue] = [
            "active": .bool(true), "token_type": .string("Bearer"), "exp": .integer(Int64(expiresAt)),
            "iat": .integer(Int64(issuedAt)), "sub": .string(uid.text), "aud": .string(audience),
            "iss": .string(issuer), "jti": .string(tokenID.text), "sid": .string(sessionID.text),
            "auth_time": .integer(Int64(authenticatedAt)), "amr": .array(methods.map { .string($0) }),
        ]
        if isBorrowed { members["borrowed"] = .bool(true) }
        return members
    }
}

extension BearerSession {
    /// The members of the answer; `exp` moves with each use that is written.
    fileprivate func members(in application: Application) -> [String: JSONValue] {
        func seconds(_ date: Date) -> JSONValue { .integer(Int64(date.timeIntervalSince1970)) }
        var members: [String: JSONValue] = [
            "active": .bool(true), "token_type": .string("session_bearer"), "exp": seconds(expiresAt),
            "iat": seconds(createdAt), "sub": .string(uid.text), "aud": .string(application.audience),
            "iss": .string(application.issuer), "sid": .string(id.text), "auth_time": seconds(authenticatedAt),
            "amr": .array(methods.map { .string($0) }),
        ]
        members["elevated_until"] = elevatedUntil.map(seconds)
        if isBorrowed { members["borrowed"] = .bool(true) }
        return members
    }
}
