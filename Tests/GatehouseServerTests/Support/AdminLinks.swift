import Accounts
import Administration
import Delivery
import Foundation
import ProviderKit
import Storage
import Testing

@testable import GatehouseServer

/// Invitations and recovery links, as a support team sends them.
extension APIClient {
    func invite(_ members: [String: JSONValue], by key: String) async throws -> Answer {
        try await post("/admin/invitations", .object(members.merging(["reason": Self.reason]) { $1 }), bearer: key)
    }

    /// Invites an address and returns the token of the link that it gets.
    func invitation(
        to address: String, _ members: [String: JSONValue] = [:], by key: String, at server: TestServer
    ) async throws -> String {
        let kind = address.contains("@") ? "email" : "phone"
        let known = server.linkTokens(to: address, at: "invitation")
        let invited = try await invite(members.merging([kind: .string(address)]) { $1 }, by: key)
        try #require(invited.status == 201, "\(invited.text)")
        return try await server.linkToken(to: address, at: "invitation", other: known)
    }

    func accept(_ token: String, _ members: [String: JSONValue] = [:]) async throws -> Answer {
        try await post("/auth/invitation", .object(members.merging(["token": .string(token)]) { $1 }))
    }

    func sendRecovery(
        to uid: String, _ deliver: String, _ members: [String: JSONValue] = [:], by key: String
    ) async throws -> Answer {
        let body: [String: JSONValue] = ["deliver": .string(deliver), "reason": Self.reason]
        return try await post("/admin/accounts/\(uid)/recover", .object(body.merging(members) { $1 }), bearer: key)
    }

    /// Has a recovery link mailed, and returns its token.
    func recovery(of person: Person, by key: String, at server: TestServer) async throws -> String {
        let known = server.linkTokens(to: person.email, at: "recover")
        let sent = try await sendRecovery(to: person.uid, "mail", by: key)
        try #require(sent.status == 202, "\(sent.text)")
        return try await server.linkToken(to: person.email, at: "recover", other: known)
    }

    func recover(_ token: String, _ members: [String: JSONValue]) async throws -> Answer {
        try await post("/auth/recover", .object(members.merging(["token": .string(token)]) { $1 }))
    }
}

extension TestServer {
    /// The tokens of the links to a page that an address has got.
    func linkTokens(to address: String, at page: String) -> Set<String> {
        let texts = inbox.messages().filter { $0.to == address && $0.text.contains("/\(page)?token=") }.map(\.text)
        return Set(texts.compactMap { $0.firstMatch(of: /\?token=([A-Za-z0-9_-]+)/).map { String($0.output.1) } })
    }

    /// Waits until an address gets a link to the page, and returns the link's token.
    func linkToken(to address: String, at page: String, other: Set<String> = []) async throws -> String {
        var new: Set<String> = []
        try await eventually("\(address) gets a link to \(page)") {
            new = linkTokens(to: address, at: page).subtracting(other)
            return !new.isEmpty
        }
        return try #require(new.first)
    }

    /// Makes recovery links without a limit.
    var recoveryLinks: RecoveryLinks {
        let counter = RateLimitsTable(database: backend.database)
        return RecoveryLinks(
            limits: RateLimiter(policy: .off, counter: counter, opaque: backend.opaque), opaque: backend.opaque,
            time: SystemTime())
    }

    /// Makes a recovery link as an owner does who is shown it, and returns its token.
    func shownRecovery(of person: Person) async throws -> String { try await shownRecovery(of: person.uid) }

    func shownRecovery(of person: String) async throws -> String {
        let uid = try #require(UUID(uuidString: person))
        let link = try await recoveryLinks.make(
            .show, for: uid, by: Self.operations, through: acts, in: application())
        let shown = try #require(link.shown)
        return try #require(URLComponents(string: shown)?.query("token"))
    }

    /// Runs the body against a server with the admin API, `ScriptedProvider` and the phone provider.
    static func inviting(
        application: String = "", email: String = "enabled: true", rateLimits: String = "off",
        _ body: @Sendable @escaping (TestServer, APIClient, _ key: String) async throws -> Void
    ) async throws {
        try await with(
            application: application, providers: "scripted: {}\nphone: { enabled: true }", email: email,
            rateLimits: rateLimits, admin: "{ application: demo }"
        ) { server in
            try await body(server, APIClient(server), try await server.serviceKey())
        }
    }
}
