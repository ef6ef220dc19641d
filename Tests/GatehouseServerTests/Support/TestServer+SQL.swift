import Accounts
import Foundation
import Postgres
import Storage
import Testing

@testable import GatehouseServer

/// Direct changes of the database, mostly to simulate that time has passed.
extension TestServer {
    func execute(_ sql: StaticString, _ binds: [Bind] = []) async throws {
        _ = try await backend.database.execute(Statement(.write, sql), binds)
    }

    func count(_ sql: StaticString, _ binds: [Bind] = []) async throws -> Int {
        var row = try #require(try await backend.database.execute(Statement(.read, sql), binds).first)
        return try row.next()
    }

    func text(_ sql: StaticString, _ binds: [Bind] = []) async throws -> String? {
        var row = try await backend.database.execute(Statement(.read, sql), binds).first
        return try row?.next()
    }

    func liveSessions(of uid: String) async throws -> Int {
        try await count(
            "SELECT count(*) FROM sessions WHERE uid = $1 AND ended_at IS NULL", [.uuid(UUID(uuidString: uid))])
    }

    /// Moves the creation of every refresh token and the authentication of every session into the past by `time`.
    func letPass(_ time: Duration) async throws {
        try await execute("UPDATE refresh_tokens SET created_at = created_at - $1::interval", [.interval(time)])
        try await execute("UPDATE sessions SET authenticated_at = authenticated_at - $1::interval", [.interval(time)])
    }

    /// Returns whether the server answers from its loaded list of ended sessions: without that list it would look up
    /// the session's row, find none and report it as ended.
    func hasLoadedRevocations() async throws -> Bool {
        let (now, application) = (Date(), try await application())
        let claims = AccessTokenClaims(
            issuer: "", audience: "", uid: UUID(), sessionID: UUID(), tokenID: UUID(),
            issuedAt: Int(now.timeIntervalSince1970), expiresAt: 0, authenticatedAt: 0, methods: [], provider: "",
            providerUid: "")
        return try await !backend.revocations.isRevoked(claims, at: now, application: application.id)
    }

    func unlockAll() async throws {
        try await execute("UPDATE password_failures SET locked_until = now() - interval '1 second'")
    }

    var administration: Administration { Administration(store: backend.store) }

    /// Returns the application `demo`.
    func application() async throws -> Accounts.Application {
        let applications = try await backend.applications(of: backend.configuration)
        return try #require(applications.first { $0.name == "demo" })
    }

    func setDisabled(_ disabled: Bool, _ person: Person) async throws {
        let uid = try #require(UUID(uuidString: person.uid))
        try await administration.setDisabled(disabled, uid: uid, in: application())
    }
}
