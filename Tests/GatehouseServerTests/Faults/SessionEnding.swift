import Accounts
import Delivery
import Foundation
import NIOHTTP1
import Postgres
import ProviderKit
import Testing

@testable import GatehouseServer

/// The ways in which a session ends.
enum SessionEnding: CaseIterable, Sendable {
    case logout, passwordReset, accountDeletion, refreshReuse

    /// Ends the person's session on the first server.
    func end(_ person: Person, on replicas: Replicas) async throws {
        let client = replicas.clients.first
        switch self {
        case .logout:
            try #require(try await client.post("/auth/logout", bearer: person.accessToken).status == 204)
        case .passwordReset:
            try #require(try await client.post("/auth/forgot-password", ["email": .string(person.email)]).status == 202)
            let token = try await replicas.mailedToken(to: person.email, after: 1)
            let reset = try await client.post(
                "/auth/reset-password", ["token": .string(token), "newPassword": "another fine battery staple"])
            try #require(reset.status == 204, "\(reset.text)")
        case .accountDeletion:
            try #require(try await client.delete("/auth/account", bearer: person.accessToken).status == 204)
        case .refreshReuse:
            let second = try #require(try await client.refresh(person.refreshToken)["refreshToken"].string)
            try #require(try await client.refresh(second).status == 200)
            try await replicas.first.age(
                "refresh_tokens", "created_at", by: "1 hour",
                where: "session_id IN (SELECT id FROM sessions WHERE uid = '\(person.uid)')")
            try #require(try await client.refresh(person.refreshToken).code == "INVALID_REFRESH_TOKEN")
        }
    }
}

extension Replicas {
    /// Registers a person with an address and signs them in on the first server.
    func register() async throws -> Person {
        let (client, email) = (clients.first, APIClient.newAddress())
        let registered = try await client.post(
            "/auth/register", ["email": .string(email), "password": .string(APIClient.password)])
        try #require(registered.status == 201, "\(registered.text)")
        let token = try await mailedToken(to: email, after: 0)
        let verified = try await client.post("/auth/verify-email", ["token": .string(token)])
        return try Person(verified, email: email, password: APIClient.password)
    }

    /// Waits for more than `count` mails with a token to the address, by either server, and returns the token that
    /// follows the first `count`.
    func mailedToken(to address: String, after count: Int) async throws -> String {
        var token: String?
        try await eventually("a mail with a token arrives") {
            let messages = (first.inbox.messages() + second.inbox.messages()).filter { $0.to == address }
            let tokens = messages.sorted { $0.sentAt < $1.sentAt }
                .compactMap { $0.text.firstMatch(of: /token=([A-Za-z0-9_-]+)/).map { String($0.output.1) } }
            token = tokens.dropFirst(count).first
            return token != nil
        }
        return try #require(token)
    }
}
