import Foundation
import FoundationNetworking
import Testing

/// The app Livlogios, whose documentation prints the Swift code that signs in (`LivlogiosPrinted.swift`).
///
/// The calls of which it prints no Swift are written in the same way from its requests and answers.
struct LivlogiosApp: Sendable {
    /// The base URL of the server, without a trailing slash.
    @TaskLocal static var host = "https://api.livlogios.app"

    /// Runs the body as the app on a new device, with another host.
    static func with(host: String, _ body: (LivlogiosApp) async throws -> Void) async throws {
        try await Keychain.$current.withValue(Keychain()) {
            try await $host.withValue(host) { try await body(LivlogiosApp()) }
        }
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
        let body = ["refreshToken": KeychainManager.get(key: "refreshToken") ?? ""]
        let data = try await send("POST", "/auth/refresh", body, answering: 200, isSignedIn: false)
        let tokens = try JSONDecoder().decode(Refreshed.self, from: data)
        KeychainManager.save(accessToken: tokens.accessToken)
        KeychainManager.save(refreshToken: tokens.refreshToken)
    }

    /// Keeps the tokens, which the app would remove, so that a test can present them again.
    func logout() async throws {
        let body = ["refreshToken": KeychainManager.get(key: "refreshToken") ?? ""]
        _ = try await send("POST", "/auth/logout", body, answering: 204, isSignedIn: true)
    }

    func deleteAccount() async throws {
        _ = try await send("DELETE", "/auth/account", answering: 204, isSignedIn: true)
    }

    private func url(_ path: String) throws -> URL {
        try #require(URL(string: "\(Self.host)/api/v1\(path)"))
    }

    private func send(
        _ method: String, _ path: String, _ body: [String: String]? = nil, answering status: Int, isSignedIn: Bool
    ) async throws -> Data {
        var request = URLRequest(url: try url(path))
        request.httpMethod = method
        if isSignedIn {
            request.setValue(
                "Bearer \(KeychainManager.get(key: "accessToken") ?? "")", forHTTPHeaderField: "Authorization")
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
