import Foundation
import FoundationNetworking
import Synchronization
import Testing

/// The request code that the documentation of the app Livlogios prints, against another host.
///
/// The printed function lacks `throws`, and the type `AuthResponse` is not printed; both are added. Its URL is checked
/// instead of force-unwrapped, and the Keychain is a dictionary. The calls of which the documentation prints no Swift
/// are written in the same way from its requests and answers.
struct LivlogiosApp: Sendable {
    /// The base URL of the server, without a trailing slash.
    let host: String
    let keychain = KeychainManager()

    struct AppleAuthRequest: Encodable {
        let identityToken: String
        let authorizationCode: String?
        let fullName: PersonNameComponents?
        let email: String?
    }

    struct AuthResponse: Decodable {
        let accessToken: String
        let refreshToken: String
        let expiresIn: Int
        let user: User

        /// Times are text, because the printed decoder has no strategy for dates.
        struct User: Decodable {
            let id: UUID
            let email: String?
            let displayName: String?
            let createdAt: String
        }
    }

    @discardableResult
    func authenticateWithBackend(
        identityToken: String,
        authorizationCode: String?,
        fullName: PersonNameComponents?,
        email: String?
    ) async throws -> AuthResponse {
        let url = try url("/auth/apple")
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")

        let body = AppleAuthRequest(
            identityToken: identityToken,
            authorizationCode: authorizationCode,
            fullName: fullName,
            email: email
        )
        request.httpBody = try? JSONEncoder().encode(body)

        let (data, _) = try await URLSession.shared.data(for: request)
        let response = try JSONDecoder().decode(AuthResponse.self, from: data)

        // Store tokens in Keychain
        keychain.save(accessToken: response.accessToken)
        keychain.save(refreshToken: response.refreshToken)
        return response
    }

    /// Stands for the app's Keychain.
    final class KeychainManager: Sendable {
        private let values = Mutex<[String: String]>([:])

        func save(accessToken: String) { save(key: "accessToken", value: accessToken) }
        func save(refreshToken: String) { save(key: "refreshToken", value: refreshToken) }
        private func save(key: String, value: String) { values.withLock { $0[key] = value } }
        func get(key: String) -> String? { values.withLock { $0[key] } }
        func delete(key: String) { values.withLock { $0[key] = nil } }
    }
}

// MARK: - The calls that are documented without Swift

extension LivlogiosApp {
    /// The answer of `GET /auth/me`, with dates.
    struct Me: Decodable {
        let id: UUID
        let email: String?
        let displayName: String?
        let emailVerified: Bool
        let authProviders: [String]
        let createdAt, updatedAt: Date
    }

    struct Refreshed: Decodable {
        let accessToken: String
        let refreshToken: String
        let expiresIn: Int
    }

    /// The error body that the documentation prints.
    struct Refusal: Decodable, Error {
        struct Detail: Decodable {
            let code: String
            let message: String
        }

        let error: Detail
    }

    func me() async throws -> Me {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        return try decoder.decode(Me.self, from: await send("GET", "/auth/me", answering: 200, isSignedIn: true))
    }

    func refresh() async throws {
        let body = ["refreshToken": keychain.get(key: "refreshToken") ?? ""]
        let data = try await send("POST", "/auth/refresh", body, answering: 200, isSignedIn: false)
        let tokens = try JSONDecoder().decode(Refreshed.self, from: data)
        keychain.save(accessToken: tokens.accessToken)
        keychain.save(refreshToken: tokens.refreshToken)
    }

    /// Keeps the tokens, which the app would remove, so that a test can present them again.
    func logout() async throws {
        let body = ["refreshToken": keychain.get(key: "refreshToken") ?? ""]
        _ = try await send("POST", "/auth/logout", body, answering: 204, isSignedIn: true)
    }

    func deleteAccount() async throws {
        _ = try await send("DELETE", "/auth/account", answering: 204, isSignedIn: true)
    }

    private func url(_ path: String) throws -> URL {
        try #require(URL(string: "\(host)/api/v1\(path)"))
    }

    private func send(
        _ method: String, _ path: String, _ body: [String: String]? = nil, answering status: Int, isSignedIn: Bool
    ) async throws -> Data {
        var request = URLRequest(url: try url(path))
        request.httpMethod = method
        if isSignedIn {
            request.setValue(
                "Bearer \(keychain.get(key: "accessToken") ?? "")", forHTTPHeaderField: "Authorization")
        }
        if let body {
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
            request.httpBody = try JSONEncoder().encode(body)
        }
        let (data, response) = try await URLSession.shared.data(for: request)
        guard (response as? HTTPURLResponse)?.statusCode == status else {
            throw try JSONDecoder().decode(Refusal.self, from: data)
        }
        return data
    }
}
