import ProviderKit
import Testing

/// The clients with which an app connects: one that follows Blitz's documentation, and AppAuth.
enum AppClient: String, Sendable, CaseIterable {
    case blitz, appAuth

    /// Registers an installation at the endpoint that the metadata names.
    func install(_ app: BlitzApp) async throws -> any InstalledApp {
        switch self {
        case .blitz:
            let app = try await app.discovering()
            return BlitzInstallation(app: app, instance: try await app.register())
        case .appAuth: return try await AppAuthApp(registering: app, issuer: app.host + "/blitz")
        }
    }
}

/// An installation of an app; each client sends its own requests and checks the answers in its own way.
protocol InstalledApp: Sendable {
    func login(redirectURI: String, _ others: [String: String]) -> AppLogin
    func userData(_ accessToken: String) async throws -> BlitzApp.Answer
    func credentials(_ scope: String) async throws -> BlitzApp.Answer
    func delete() async throws -> BlitzApp.Answer
}

/// A request for `openid profile` that is under way in the browser.
struct AppLogin: Sendable {
    let url, redirectURI: String
    /// The code of the URL with which the browser comes back.
    let code: @Sendable (_ redirect: String) throws -> String
    let tokens: @Sendable (_ code: String) async throws -> BlitzApp.Tokens
    /// The answer to the code with a wrong verifier.
    let redeemWrongly: @Sendable (_ code: String) async throws -> BlitzApp.Answer

    static let wrongVerifier = String(repeating: "v", count: 43)
}

struct BlitzInstallation: InstalledApp {
    let app: BlitzApp
    let instance: BlitzApp.Instance

    func login(redirectURI: String, _ others: [String: String]) -> AppLogin {
        let request = app.login(instance, redirectURI: redirectURI, others)
        return AppLogin(
            url: request.url, redirectURI: redirectURI, code: { try request.code(in: $0) },
            tokens: { try await app.tokens(for: $0, request, by: instance) },
            redeemWrongly: {
                try await app.redemption(of: $0, request, by: instance, verifier: AppLogin.wrongVerifier)
            })
    }

    func userData(_ accessToken: String) async throws -> BlitzApp.Answer { try await app.userData(accessToken) }

    func credentials(_ scope: String) async throws -> BlitzApp.Answer {
        try await app.relogin(instance, scope: scope)
    }

    func delete() async throws -> BlitzApp.Answer { try await app.delete(instance) }
}

extension AppAuthApp: InstalledApp {
    func login(redirectURI: String, _ others: [String: String]) -> AppLogin {
        let request = Request(redirectURI: redirectURI)
        return AppLogin(
            url: address(of: request, scope: "openid profile", others), redirectURI: redirectURI,
            code: { try code(in: $0, of: request) },
            tokens: { code in
                let tokens = try await exchange(code, of: request)
                return BlitzApp.Tokens(
                    idToken: try #require(tokens.idToken), accessToken: try #require(tokens.accessToken),
                    expiresIn: try #require(tokens.expiresIn), scope: try #require(tokens.scope),
                    tokenType: tokens.tokenType, refreshToken: tokens.refreshToken)
            },
            redeemWrongly: { try await redemption(of: $0, request, verifier: AppLogin.wrongVerifier) })
    }

    func userData(_ accessToken: String) async throws -> BlitzApp.Answer { try await userInfo(accessToken) }

    func credentials(_ scope: String) async throws -> BlitzApp.Answer { try await clientCredentials(scope: scope) }
}
