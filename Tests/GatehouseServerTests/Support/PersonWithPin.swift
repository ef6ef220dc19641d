import Accounts
import Foundation
import Postgres
import ProviderKit
import Testing

@testable import GatehouseServer

/// A person who is signed in, and what they do with their PIN.
struct PersonWithPin: Sendable {
    let server: TestServer
    let person: Person
    let principal: Principal
    private let client = Client(device: nil, address: "192.0.2.7")

    /// Registers a person; with a PIN, if one is given.
    init(at server: TestServer, pin: String? = nil) async throws {
        self.server = server
        person = try await APIClient(server).register(at: server)
        principal = try await Self.principal(presenting: person.accessToken, at: server)
        if let pin { try await set(pin) }
    }

    private init(_ other: Self, principal: Principal) {
        (server, person, self.principal) = (other.server, other.person, principal)
    }

    private static func principal(presenting token: String, at server: TestServer) async throws -> Principal {
        try await server.server.useCases.authentication.principal(presenting: token, in: server.application())
    }

    /// The same session, an hour after the sign-in.
    var later: Self {
        Self(
            self,
            principal: Principal(
                application: principal.application, uid: principal.uid, sessionID: principal.sessionID,
                authenticatedAt: principal.authenticatedAt - 3600, provider: principal.provider,
                providerUid: principal.providerUid))
    }

    /// Another session of the same person.
    func elsewhere() async throws -> Self {
        let answer = try await APIClient(server).login(person.email)
        let token = try #require(answer["accessToken"].string)
        return Self(self, principal: try await Self.principal(presenting: token, at: server))
    }

    private var pins: PinCode { server.server.useCases.pin }

    func status() async throws -> PinCode.Status { try await pins.status(of: principal) }
    func isElevated() async throws -> Bool { try await status().elevatedUntil != nil }
    func unlock(_ pin: String) async throws { try await pins.unlock(with: pin, by: principal, from: client) }
    func lock() async throws { try await pins.lock(principal) }

    func set(_ pin: String, replacing: Bool = false) async throws {
        try await pins.set(pin, replacing: replacing, by: principal, from: client)
    }

    func change(to pin: String, showing proof: PinCode.Proof) async throws {
        try await pins.change(to: pin, showing: proof, by: principal, from: client)
    }

    func remove(showing proof: PinCode.Proof) async throws {
        try await pins.remove(showing: proof, by: principal, from: client)
    }

    /// Presents a PIN, and returns the error; `nil` if it is right.
    func guess(_ pin: String) async throws -> AccountsError? {
        do {
            try await unlock(pin)
            return nil
        } catch let error as AccountsError {
            return error
        }
    }

    /// The names of the account's events about the PIN, in their order.
    func events() async throws -> [String] {
        let events = try await server.text(
            """
            SELECT string_agg(e.event, ' ' ORDER BY e.at, e.id)
              FROM audit_events e
              JOIN accounts a ON a.application_id = e.application_id
                             AND e.account = sha256(a.audit_key || uuid_send(a.uid))
             WHERE a.uid = $1 AND (e.event LIKE 'pin.%' OR e.event = 'session.elevated')
            """, [.uuid(principal.uid)])
        return events?.split(separator: " ").map(String.init) ?? []
    }
}

extension AccountsError {
    /// How long the error requires to wait; `nil` for an error other than a lock.
    var lock: Duration? {
        if case .identityTemporarilyLocked(let wait) = self { wait } else { nil }
    }
}
