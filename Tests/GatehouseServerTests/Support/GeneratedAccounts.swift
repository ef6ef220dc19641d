import Accounts
import Foundation
import GatehouseTesting
import Postgres
import ProviderKit
import Storage
import Testing

@testable import GatehouseServer

/// Accounts with every mix of identities, written to the database directly, and tried by signing in.
///
/// The same seed gives the same accounts, so that two servers can answer for the same people before and after a change.
struct GeneratedAccounts: Sendable {
    let accounts: [GeneratedAccount]

    init(_ count: Int, seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        accounts = (0..<count).map { GeneratedAccount($0, by: &generator) }
    }

    func plant(at server: TestServer) async throws {
        let application = try await server.application().id
        for account in accounts { try await account.plant(at: server, application: application) }
    }

    /// The accounts that can be signed in to.
    ///
    /// An account is tried in all its ways until something signs in to it.
    func signingIn(at server: TestServer) async throws -> Set<UUID> {
        try await withThrowingTaskGroup(of: UUID?.self) { group in
            var able: Set<UUID> = []
            for (index, account) in accounts.enumerated() {
                if index >= 6, let uid = try await group.next() { _ = uid.map { able.insert($0) } }
                group.addTask { try await account.canSignIn(at: server) ? account.uid : nil }
            }
            for try await uid in group { _ = uid.map { able.insert($0) } }
            return able
        }
    }
}

/// One account and what it has.
struct GeneratedAccount: Sendable {
    enum Status: String { case live, disabled, deleted, guest }

    struct Identity: Sendable {
        let id: UUID
        let provider, subject: String
        var email: String?
        var phone: String?
        var isVerified = true
        var isQuarantined = false
        /// A phone number that was unused for longer than its provider allows.
        var isIdle = false
    }

    let uid: UUID
    let status: Status
    let identities: [Identity]

    init(_ index: Int, by generator: inout SeededGenerator) {
        func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &generator) < percent }
        func uuid() -> UUID {
            let bytes = (0..<16).map { _ in UInt8.random(in: 0...255, using: &generator) }
            return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
        }
        uid = uuid()
        let status: Status = chance(76) ? .live : chance(34) ? .disabled : chance(50) ? .deleted : .guest
        self.status = status
        guard status != .guest else {
            identities = [Identity(id: uuid(), provider: "anonymous", subject: "guest-\(index)")]
            return
        }
        var identities: [Identity] = []
        if chance(75) {
            var identity = Identity(id: uuid(), provider: "scripted", subject: "s-\(index)")
            if chance(30) { identity.email = "s\(index)@example.com" }
            identities.append(identity)
            if chance(15) { identities.append(Identity(id: uuid(), provider: "scripted", subject: "t-\(index)")) }
        }
        if chance(25) { identities.append(Identity(id: uuid(), provider: "other", subject: "o-\(index)")) }
        if chance(30) || identities.isEmpty && chance(60) {
            let address = "e\(index)@example.com"
            var identity = Identity(id: uuid(), provider: "email", subject: address, email: address)
            identity.isVerified = chance(70)
            identities.append(identity)
        }
        if chance(30) || identities.isEmpty {
            let number = "+3361234\(5000 + index)"
            var identity = Identity(id: uuid(), provider: "phone", subject: number, phone: number)
            identity.isVerified = chance(80)
            identity.isIdle = identity.isVerified && chance(40)
            identities.append(identity)
        }
        for index in identities.indices { identities[index].isQuarantined = chance(25) }
        self.identities = identities
    }

    func has(_ provider: String) -> Bool { identities.contains { $0.provider == provider } }

    func plant(at server: TestServer, application: Accounts.Application.ID) async throws {
        func run(_ sql: StaticString, _ binds: Bind...) async throws {
            try await server.execute(sql, [.application(application), .uuid(uid)] + binds)
        }
        try await run(
            """
            INSERT INTO accounts (application_id, uid, audit_key, disabled_at, deleted_at, purge_after)
            VALUES ($1, $2, decode(repeat('07', 32), 'hex'), CASE WHEN $3 = 'disabled' THEN now() END,
                    CASE WHEN $3 = 'deleted' THEN now() END,
                    CASE WHEN $3 = 'deleted' THEN now() + interval '20 days' END)
            """, .text(status.rawValue))
        for identity in identities {
            try await run(
                """
                INSERT INTO identities
                       (application_id, id, uid, provider, provider_uid, is_guest, email, email_verified, phone,
                        phone_verified, created_at, quarantined_at)
                VALUES ($1, $3, $2, $4, $5, $4 = 'anonymous', $6, $6::text IS NOT NULL AND $8, $7,
                        $7::text IS NOT NULL AND $8, now() - CASE WHEN $10 THEN interval '3 years' ELSE '0' END,
                        CASE WHEN $9 THEN now() END)
                """, .uuid(identity.id), .text(identity.provider), .text(identity.subject), .text(identity.email),
                .text(identity.phone), .bool(identity.isVerified), .bool(identity.isQuarantined),
                .bool(identity.isIdle))
            guard identity.isVerified, let address = identity.email ?? identity.phone else { continue }
            try await run(
                """
                INSERT INTO addresses (application_id, kind, address, uid, verified_at)
                VALUES ($1, $3, $4, $2, now() - CASE WHEN $5 THEN interval '3 years' ELSE '0' END)
                """, .text(identity.email == nil ? "phone" : "email"), .text(address), .bool(identity.isIdle))
        }
    }

    /// Tries identities by themselves, then codes to mailboxes, and to phones at last, since an idle number changes hands.
    func canSignIn(at server: TestServer) async throws -> Bool {
        let client = APIClient(server)
        for identity in identities where ["scripted", "other"].contains(identity.provider) {
            let answer = try await client.present(.somebody(identity.subject), to: identity.provider)
            if opens(answer) { return true }
        }
        for address in Set(identities.compactMap(\.email)) where try await opensByCode("email", address, client, server)
        {
            return true
        }
        for number in identities.compactMap(\.phone) where try await opensByCode("phone", number, client, server) {
            return true
        }
        return false
    }

    private func opensByCode(
        _ kind: String, _ address: String, _ client: APIClient, _ server: TestServer
    ) async throws -> Bool {
        let asked = try await client.post("/auth/\(kind)/otp", [kind: .string(address)])
        guard asked.status == 202 else {
            #expect(asked.code == "PROVIDER_DISABLED", "\(asked.text)")
            return false
        }
        let code = try await client.sentCode(to: address, at: server)
        return opens(
            try await client.post(
                "/auth/\(kind)/otp/verify", ["challengeId": asked["challengeId"], "code": .string(code)]))
    }

    private func opens(_ answer: APIClient.Answer) -> Bool {
        #expect(answer.status < 500, "\(answer.text)")
        return answer.status == 200 && answer["user"]["id"].string == uid.uuidString.lowercased()
    }
}
