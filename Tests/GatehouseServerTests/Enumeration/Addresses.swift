import Accounts
import Foundation
import ProviderKit
import Testing

@testable import GatehouseServer

/// Addresses in every state that a server distinguishes.
struct Addresses: Sendable {
    enum Sort: String, Sendable, CaseIterable {
        case unknown, known, unverified, deleted, disabled, withoutPassword, locked, unknownButLocked

        var isLocked: Bool { [.locked, .unknownButLocked].contains(self) }
    }

    let all: [(sort: Sort, email: String)]

    static func make(at observed: ObservedServer) async throws -> Addresses {
        var all: [(sort: Sort, email: String)] = []
        for sort in Sort.allCases { all.append((sort, try await address(sort, at: observed.server))) }
        // Preparations must have ended before the measurement begins.
        try await eventually("everything is sent") {
            try await observed.server.count("SELECT count(*) FROM outbox WHERE sent_at IS NULL") == 0
        }
        return Addresses(all: all)
    }

    /// All addresses have the same length, so that responses that contain them do too.
    private static func address(_ sort: Sort, at server: TestServer) async throws -> String {
        let client = APIClient(server)
        let email = APIClient.newAddress()
        switch sort {
        case .unknown: break
        case .known: _ = try await client.register(at: server, email: email)
        case .unverified: _ = try await client.pend(at: server, email)
        case .deleted:
            let person = try await client.register(at: server, email: email)
            try #require(try await client.delete("/auth/account", bearer: person.accessToken).status == 204)
        case .disabled: try await server.setDisabled(true, try await client.register(at: server, email: email))
        case .withoutPassword: try await signInByCode(email, client, server)
        case .locked:
            _ = try await client.register(at: server, email: email)
            try await lock(email, client)
        case .unknownButLocked: try await lock(email, client)
        }
        return email
    }

    private static func lock(_ email: String, _ client: APIClient) async throws {
        for _ in 0..<10 { #expect(try await client.login(email, "wrong").status == 401) }
        expectError(try await client.login(email, "wrong"), 429, "IDENTITY_TEMPORARILY_LOCKED")
    }

    private static func signInByCode(_ email: String, _ client: APIClient, _ server: TestServer) async throws {
        let asked = try await client.post("/auth/email/otp", ["email": .string(email)])
        let mail = try #require(try await client.mails(to: email, at: server, count: 1).first)
        let code = mail.text.split(separator: "\n").first { $0.count == 6 && $0.allSatisfy(\.isNumber) }
        let answer = try await client.post(
            "/auth/email/otp/verify",
            ["challengeId": asked["challengeId"], "code": .string(String(try #require(code)))])
        try #require(answer.status == 200, "\(answer.text)")
    }
}

/// Expects the same observation for all addresses of a group.
func expectAlike(
    _ observations: [(sort: Addresses.Sort, seen: Observation)], _ what: String,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    guard let first = observations.first else { return }
    #expect(!first.seen.statements.isEmpty, "\(what): nothing was measured", sourceLocation: sourceLocation)
    for (sort, seen) in observations.dropFirst() {
        #expect(
            seen == first.seen, "\(what) of \(sort.rawValue), unlike \(first.sort.rawValue)",
            sourceLocation: sourceLocation)
    }
}
