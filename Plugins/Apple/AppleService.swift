internal import Foundation
internal import ProviderKit

/// Apple's endpoints for those whom it knows: codes become tokens here, and tokens are given back.
struct AppleService {
    /// A private key of the developer team.
    struct Key {
        let teamID: String
        let id: String
        let pem: String
    }

    /// Without a trailing slash; also the issuer of Apple's tokens.
    let baseURL: String
    private let key: Key?
    private let ports: ProviderPorts

    /// - Throws: `SettingsError`: an unreadable key is an admin's to mend now, not a person's to meet later.
    init(settings: AppleProvider.Settings, ports: ProviderPorts) throws {
        var url = settings.baseURL ?? "https://appleid.apple.com"
        while url.hasSuffix("/") { url.removeLast() }
        baseURL = url
        key = try settings.clientKey()
        self.ports = ports
        do {
            _ = try clientSecret(for: "start-up")
        } catch let error as UnreadableKeys {
            throw SettingsError(setting: "privateKey", reason: "the keys \(error.reason)")
        } catch {
            // A configuration that is only looked at has no signer.
        }
    }

    var hasKey: Bool { key != nil }

    /// Exchanges a code (RFC 6749, 4.1.3).
    /// - Returns: `nil` where Apple does not take it.
    /// - Throws: `ProviderError.unavailable` also for an answer that is none.
    func exchange(_ code: String, clientID: String, redirectURI: String? = nil) async throws -> JSONValue? {
        var form = ["grant_type": "authorization_code", "code": code]
        form["redirect_uri"] = redirectURI
        let answer = try await post(form, to: "/auth/token", clientID: clientID)
        if (400...499).contains(answer.status), answer.status != 429 { return nil }
        guard answer.isSuccess, let tokens = answer.json else { throw ProviderError.unavailable }
        return tokens
    }

    /// Gives a refresh token back (RFC 7009).
    ///
    /// One that Apple does not know any more is as good as given back.
    func revoke(_ refreshToken: String, clientID: String) async throws {
        let form = ["token": refreshToken, "token_type_hint": "refresh_token"]
        let answer = try await post(form, to: "/auth/revoke", clientID: clientID)
        let isUnknownToUs = ["invalid_client", "unauthorized_client"].containsBytes(
            of: answer.json?["error"].string ?? "")
        guard answer.isSuccess || (answer.status == 400 && !isUnknownToUs) else { throw ProviderError.unavailable }
    }

    private func post(_ form: [String: String], to path: String, clientID: String) async throws -> FetchResponse {
        guard let secret = try? clientSecret(for: clientID) else { throw ProviderError.unavailable }
        let credentials = ["client_id": clientID, "client_secret": secret]
        return try await ports.http.fetch(.post(baseURL + path, form: form.merging(credentials) { $1 }))
    }

    /// A secret of Apple's kind is a token that we sign, good for five minutes; `nil` without a key.
    private func clientSecret(for clientID: String) throws -> String? {
        guard let key else { return nil }
        let now = Int64(ports.now().timeIntervalSince1970)
        let claims: [String: JSONValue] = [
            "iss": .string(key.teamID), "iat": .integer(now), "exp": .integer(now + 300), "aud": .string(baseURL),
            "sub": .string(clientID),
        ]
        return try ports.signer.sign(claims, key: key.pem, keyID: key.id)
    }
}
