import Foundation
import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// What the apps of each dialect read when they are refused, byte for byte.
struct RefusalTableTests {
    enum Dialect: CaseIterable { case immich, timeTracker }

    enum Refusal: String, CaseIterable {
        case unsupportedProvider = "UNSUPPORTED_PROVIDER"
        case providerDisabled = "PROVIDER_DISABLED"
        case accountDisabled = "ACCOUNT_DISABLED"
        case accountDeleted = "ACCOUNT_DELETED"
        case tooLarge = "PAYLOAD_TOO_LARGE"

        /// The status in version 1 of the API and its reason phrase, which Immich repeats.
        var status: (code: Int, reason: String) {
            switch self {
            case .unsupportedProvider: (404, "Not Found")
            case .providerDisabled, .accountDisabled, .accountDeleted: (403, "Forbidden")
            case .tooLarge: (413, "Content Too Large")
            }
        }

        /// `end` is until when the account can be restored.
        func words(restorableUntil end: String?) -> String {
            switch self {
            case .unsupportedProvider, .providerDisabled: "This way of signing in is switched off."
            case .accountDisabled: "The account has been disabled"
            case .accountDeleted:
                """
                The account is being deleted. It can be restored until \(end ?? "") at http://127.0.0.1:1/signin.
                """
            case .tooLarge: "The body is larger than 65536 bytes"
            }
        }

        /// The providers of the server that refuses, which the server that began the sign-in had.
        var providers: String {
            switch self {
            case .unsupportedProvider: ""
            case .providerDisabled: "scripted: { enabled: false }"
            case .accountDisabled, .accountDeleted, .tooLarge: "scripted: {}"
            }
        }
    }

    private static func application(provider: String) -> String {
        """
        openid: {}
        redirectURIs: [{ uri: "\(TimeTrackerApp.redirectURI)", pkce: false }, "\(ImmichApp.redirectURI)"]
        dialects:
          timetracker: { provider: \(provider) }
          immich: { provider: \(provider), redirectURI: "\(ImmichApp.redirectURI)" }
        """
    }

    private static let ada = VerifiedIdentity.somebody("ada", email: "ada@example.com")

    @Test(arguments: Refusal.allCases, Dialect.allCases)
    func `a refusal has these bytes`(refusal: Refusal, dialect: Dialect) async throws {
        try await TestServer.with(
            application: Self.application(provider: "scripted"), providers: "scripted: {}"
        ) { first in
            let client = APIClient(first)
            let account = try await client.present(Self.ada)
            let token = try #require(account["accessToken"].string, "\(account.text)")
            let presents = try await Self.arrive(dialect, at: client)
            if refusal == .accountDisabled { try await first.execute("UPDATE accounts SET disabled_at = now()") }
            if refusal == .accountDeleted {
                #expect(try await client.delete("/auth/account", bearer: token).status == 204)
            }
            let words = refusal.words(
                restorableUntil: try await client.present(Self.ada)["error"]["details"]["purgeAfter"].string)
            // Another replica, whose configuration may be another one.
            let isOff = refusal == .unsupportedProvider || refusal == .providerDisabled
            try await TestServer.with(
                database: first.databaseURL,
                application: Self.application(provider: isOff ? "hosted" : "scripted"), providers: refusal.providers
            ) { second in
                let client = APIClient(second)
                let answer =
                    refusal == .tooLarge
                    ? try await Self.send(dialect, Array(repeating: 0x20, count: 64 * 1024 + 1), to: client)
                    : try await presents(client)
                Self.expect(answer, is: refusal, in: dialect, words: words)
            }
        }
    }

    private typealias Presents = @Sendable (APIClient) async throws -> APIClient.Answer

    /// Signs in at the provider; the returned function presents the code.
    private static func arrive(_ dialect: Dialect, at client: APIClient) async throws -> Presents {
        switch dialect {
        case .immich:
            let url = try await ImmichApp(api: client).arrive("ada")
            return { try await ImmichApp(api: $0).callback(url) }
        case .timeTracker:
            let arrival = try await TimeTrackerApp(api: client).arrive(with: ada)
            return { try await TimeTrackerApp(api: $0).exchange(arrival) }
        }
    }

    private static func send(_ dialect: Dialect, _ body: [UInt8], to client: APIClient) async throws -> APIClient.Answer
    {
        try await client.send(.POST, dialect == .immich ? "/api/auth/login" : "/auth/token", raw: body)
    }

    private static func expect(
        _ answer: APIClient.Answer, is refusal: Refusal, in dialect: Dialect, words: String
    ) {
        var (status, reason) = refusal.status
        let bytes: String
        switch dialect {
        case .immich:
            let id = answer.headers.first(name: "x-request-id") ?? ""
            bytes = """
                {"message":"\(words)","error":"\(reason)","statusCode":\(status),"correlationId":"\(id)",\
                "code":"\(refusal.rawValue)"}
                """
        case .timeTracker:
            // The call answers no 404, which would say that there is no such path.
            if refusal == .unsupportedProvider { (status, reason) = (403, "Forbidden") }
            bytes = "{\"error\":\"\(words)\"}"
        }
        #expect(answer.status == status, "\(answer.text)")
        #expect(answer.text == bytes)
        #expect(answer.headers.first(name: "cache-control") == "no-store")
        #expect(answer.headers.first(name: "content-type")?.hasPrefix("application/json") == true)
        #expect(!answer.text.contains("restoreToken"))
    }
}
