import Accounts
import Delivery
import Foundation
import ProviderKit
import Testing

/// A person with an account, and the tokens of their session.
struct Person: Sendable {
    let email: String
    let password: String
    let uid: String
    let accessToken: String
    let refreshToken: String
}

extension APIClient {
    static let password = "correct horse battery staple"
    static let otherPassword = "quiet lantern over violet seas"
    static let thirdPassword = "seven marble owls at midnight"

    /// Returns a unique address, because tests share a database.
    static func newAddress() -> String {
        "p\(UUID().uuidString.lowercased().prefix(13))@example.com"
    }

    /// Waits until the worker has delivered a mail with a token to an address, and returns the token of the newest one.
    func mailedToken(to address: String, at server: TestServer, other: Set<String> = []) async throws -> String {
        let clock = ContinuousClock()
        let deadline = clock.now + .seconds(10)
        while clock.now < deadline {
            for message in server.inbox.messages() where message.to == address {
                guard let match = message.text.firstMatch(of: /token=([A-Za-z0-9_-]+)/) else { continue }
                let token = String(match.output.1)
                if !other.contains(token) { return token }
            }
            try await clock.sleep(for: .milliseconds(10))
        }
        throw TimeoutError()
    }

    func register(
        at server: TestServer, email: String = newAddress(), password: String = password
    ) async throws -> Person {
        let registered = try await post("/auth/register", ["email": .string(email), "password": .string(password)])
        try #require(registered.status == 201, "\(registered.text)")
        let token = try await mailedToken(to: email, at: server)
        let verified = try await post("/auth/verify-email", ["token": .string(token)])
        try #require(verified.status == 200, "\(verified.text)")
        return try Person(verified, email: email, password: password)
    }

    /// Waits until an address has received that many mails, and returns their texts, the newest first.
    func mails(to address: String, at server: TestServer, count: Int) async throws -> [DeliveredMessage] {
        let clock = ContinuousClock()
        let deadline = clock.now + .seconds(10)
        while clock.now < deadline {
            let mails = server.inbox.messages().filter { $0.to == address }
            if mails.count >= count { return mails }
            try await clock.sleep(for: .milliseconds(10))
        }
        throw TimeoutError()
    }

    /// Registers an address without confirming it.
    /// - Returns: the mailed token.
    func pend(
        at server: TestServer, _ email: String, password: String = password, other: Set<String> = []
    ) async throws -> String {
        let registered = try await post("/auth/register", ["email": .string(email), "password": .string(password)])
        try #require(registered.status == 201, "\(registered.text)")
        return try await mailedToken(to: email, at: server, other: other)
    }

    /// Requests a password reset and returns the mailed token.
    func forget(at server: TestServer, _ email: String) async throws -> String {
        let known = Set(
            server.inbox.messages().compactMap { $0.text.firstMatch(of: /token=([A-Za-z0-9_-]+)/)?.output.1 })
        let asked = try await post("/auth/forgot-password", ["email": .string(email)])
        try #require(asked.status == 202, "\(asked.text)")
        return try await mailedToken(to: email, at: server, other: Set(known.map { String($0) }))
    }

    func verify(_ token: String) async throws -> Answer {
        try await post("/auth/verify-email", ["token": .string(token)])
    }

    func reset(_ token: String, to password: String) async throws -> Answer {
        try await post("/auth/reset-password", ["token": .string(token), "newPassword": .string(password)])
    }

    func guest() async throws -> Person {
        try Person(try await post("/auth/anonymous"), email: "", password: "")
    }

    func login(_ email: String, _ password: String = password) async throws -> Answer {
        try await post("/auth/login", ["email": .string(email), "password": .string(password)])
    }

    func refresh(_ token: String) async throws -> Answer {
        try await post("/auth/refresh", ["refreshToken": .string(token)])
    }
}

struct TimeoutError: Error {}

extension Person {
    init(_ answer: APIClient.Answer, email: String, password: String) throws {
        self.email = email
        self.password = password
        uid = try #require(answer["user"]["id"].string, "\(answer.text)")
        accessToken = try #require(answer["accessToken"].string)
        refreshToken = try #require(answer["refreshToken"].string)
    }
}
