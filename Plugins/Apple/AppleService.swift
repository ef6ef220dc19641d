internal import Foundation
internal import ProviderKit

/// Apple's endpoints that need a client secret: exchanging codes and revoking tokens.
struct AppleService {
    /// A private key of the developer team.
    struct Key {
        let teamID, id, pem: String
    }

    /// The base URL without a trailing slash; also the issuer of Apple's tokens.
    let baseURL: String
    private let key: Key?
    private let ports: ProviderPorts

    /// Signs once, so that an unreadable key is found at start-up.
    /// - Throws: `SettingsError`.
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
            // `config check` runs without a signer, so the failure is ignored.
        }
    }

    var hasKey: Bool { key != nil }

    /// Exchanges a code (RFC 6749, 4.1.3).
    /// - Returns: `nil` if Apple refuses the code.
    /// - Throws: `ProviderError.unavailable`, also for a response that is not JSON.
    func exchange(_ code: String, clientID: String, redirectURI: String? = nil) async throws -> JSONValue? {
        var form = ["grant_type": "authorization_code", "code": code]
        form["redirect_uri"] = redirectURI
        let answer = try await post(form, to: "/auth/token", clientID: clientID)
        answer.finding.map(ports.findings.note)
        if answer.isRefusal { return nil }
        guard answer.isSuccess, let tokens = answer.json else { throw ProviderError.unavailable }
        return tokens
    }

    /// Revokes a refresh token (RFC 7009); a token that Apple no longer knows counts as revoked.
    func revoke(_ refreshToken: String, clientID: String) async throws {
        let form = ["token": refreshToken, "token_type_hint": "refresh_token"]
        let answer = try await post(form, to: "/auth/revoke", clientID: clientID)
        let isUnknownToUs = ["invalid_client", "unauthorized_client"].containsBytes(
            of: answer.json?["error"].string ?? "")
        guard answer.isSuccess || (answer.status == 400 && !isUnknownToUs) else { throw ProviderError.unavailable }
    }

    private func post(_ form: [String: String], to path: String, clientID: String) async throws -> FetchResponse {
        guard let request = request(form, to: path, clientID: clientID) else { throw ProviderError.unavailable }
        return try await ports.http.fetch(request)
    }

    /// `nil` without a key.
    func request(_ form: [String: String], to path: String, clientID: String) -> FetchRequest? {
        guard let secret = try? clientSecret(for: clientID) else { return nil }
        let credentials = ["client_id": clientID, "client_secret": secret]
        return .post(baseURL + path, form: form.merging(credentials) { $1 })
    }

    /// Apple's client secret: a token that the team's key signs, valid for five minutes; `nil` without a key.
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

extension FetchResponse {
    /// The error code of Apple's token endpoint, unless it is longer than any.
    var tokenError: String? { json?["error"].string.flatMap { $0.utf8.count <= 64 ? $0 : nil } }

    /// What is wrong with the client, according to the error code.
    fileprivate var finding: ProviderFinding? {
        ["invalid_client", "unauthorized_client"].containsBytes(of: tokenError ?? "") ? .clientRefused : nil
    }
}
