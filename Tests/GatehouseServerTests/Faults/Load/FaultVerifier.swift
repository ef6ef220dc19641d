import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// Compares what replicas have with what a journal says they acknowledged.
struct FaultVerifier: Sendable {
    private static let width = 4
    /// More than the longest lease, two minutes: what a server took and did not learn of is due only after that.
    private static let patience = Duration.seconds(240)

    let entries: FaultJournal.Entries
    let partner: Partner
    let clients: [APIClient]
    /// Returns the token of the mail to an address, if it has arrived.
    let mailedToken: @Sendable (String) -> String?

    /// Expects that every replica has everything that was acknowledged, that no ended session was served for longer
    /// than a second, and that every other response was a well-formed 503.
    func verify() async throws {
        #expect(entries.oddities.isEmpty, "\(entries.oddities.count): \(entries.oddities.prefix(8))")
        #expect(entries.servedAfterLogout < .seconds(1))
        let lost =
            try await faults(of: entries.accounts.values.map { $0 }, keeps)
            + faults(of: entries.registrations, keeps) + faults(of: entries.logouts, refuses)
            + faults(of: entries.erasures, keeps)
        #expect(lost.isEmpty, "\(lost.count): \(lost.prefix(8))")
    }

    /// Returns the faults that `check` finds.
    private func faults<Item: Sendable>(
        of items: [Item], _ check: @Sendable @escaping (Item, APIClient) async throws -> String?
    ) async throws -> [String] {
        try await withThrowingTaskGroup(of: [String].self) { group in
            for lane in 0..<Self.width {
                group.addTask {
                    var found: [String] = []
                    for index in stride(from: lane, to: items.count, by: Self.width) {
                        // Each check is of one replica, in turn.
                        let client = clients[index / Self.width % clients.count]
                        if let fault = try await check(items[index], client) { found.append(fault) }
                    }
                    return found
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
    }

    /// Checks an account's latest refresh token and its linked identity.
    @Sendable private func keeps(_ account: FaultJournal.Account, _ client: APIClient) async throws -> String? {
        let refreshed = try await answer { try await client.refresh(account.refreshToken) }
        let bearer = refreshed["accessToken"].string
        let me = try await answer { try await client.get("/auth/me", bearer: bearer) }
        guard me["id"].string == account.uid else { return "refresh: \(refreshed.text), me: \(me.text)" }
        guard let subject = account.subject else { return nil }
        let linked = try await signIn(subject, client)
        return linked["user"]["id"].string == account.uid ? nil : "link: \(linked.text)"
    }

    /// Checks that a registration can be completed.
    @Sendable private func keeps(_ email: String, _ client: APIClient) async throws -> String? {
        try await eventually("the mail to \(email) arrives", within: Self.patience) { mailedToken(email) != nil }
        let login = try await answer { try await client.login(email) }
        if login.status == 200 { return nil }
        // A verification that is repeated after a 503 is refused if the earlier attempt was executed.
        let verified = try await answer { try await client.verify(mailedToken(email) ?? "") }
        let again = try await answer { try await client.login(email) }
        return again.status == 200 ? nil : "verification of \(email): \(verified.text), login: \(again.text)"
    }

    /// Checks that an erasure is completed, and that the same person gets a new account.
    @Sendable private func keeps(_ erasure: FaultJournal.Erasure, _ client: APIClient) async throws -> String? {
        try await eventually("\(erasure.receipt) is erased", within: Self.patience) {
            try await answer { try await client.send(.GET, erasure.receipt) }["status"] == "erased"
        }
        if let fault = try await refuses(erasure.account, client) { return fault }
        let again = try await signIn(erasure.account.subject ?? "", client)
        return again.status == 200 && again["user"]["id"].string != erasure.account.uid
            ? nil : "sign-in after the erasure: \(again.text)"
    }

    /// Checks that an ended session is refused.
    @Sendable private func refuses(_ account: FaultJournal.Account, _ client: APIClient) async throws -> String? {
        let me = try await answer { try await client.get("/auth/me", bearer: account.accessToken) }
        let refreshed = try await answer { try await client.refresh(account.refreshToken) }
        let isRefused = me.code == "INVALID_TOKEN" && refreshed.code == "INVALID_REFRESH_TOKEN"
        return isRefused ? nil : "ended session: \(me.status) \(me.text), \(refreshed.status) \(refreshed.text)"
    }

    private func signIn(_ subject: String, _ client: APIClient) async throws -> APIClient.Answer {
        try await answer { try await client.post("/auth/custom", partner.body(of: subject)) }
    }

    /// Repeats a call for half a minute while the server refuses it.
    private func answer(_ call: @Sendable () async throws -> APIClient.Answer) async throws -> APIClient.Answer {
        var latest = try await call()
        for _ in 1...300 where latest.status == 503 {
            try await Task.sleep(for: .milliseconds(100))
            latest = try await call()
        }
        return latest
    }
}
