import Foundation
import NIOHTTP1
import ProviderKit
import Synchronization
import Testing

@testable import GatehouseServer

/// Clients that use two replicas while a test damages something, and record what was acknowledged.
///
/// They write at the first replica and read at the second. Sessions also end at the second, and the first must refuse
/// them. A client that got no success repeats its call, as an app would.
final class FaultLoad: Sendable {
    /// Which responses a fault excuses besides a well-formed 503.
    struct Excuses: OptionSet {
        let rawValue: Int

        /// No response, because the test kills servers or cuts clients off.
        static let silence = Excuses(rawValue: 1)
        /// A refused access token of a live session, because the test moves clocks; the client then refreshes it.
        static let staleTokens = Excuses(rawValue: 2)
    }

    let first: APIClient
    let second: APIClient
    let partner: Partner
    let journal = FaultJournal()
    private let excuses: Excuses
    private let isOver = Atomic(false)

    init(first: APIClient, second: APIClient, partner: Partner, excusing excuses: Excuses = []) {
        self.first = first
        self.second = second
        self.partner = partner
        self.excuses = excuses
    }

    /// How long the clients wait for servers that resume; it is generous, because other work may slow the machine down.
    private static let patience = Duration.seconds(60)

    /// Runs the clients around `body`, and returns when each kind of call has succeeded again after it.
    func run(_ body: () async throws -> Void) async throws {
        let clients: [@Sendable () async throws -> Void] = [
            guest, guest, guest, registrar, eraser, reader,
            { try await self.leaver(self.first, asking: self.second) },
            { try await self.leaver(self.second, asking: self.first) },
        ]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for client in clients {
                group.addTask {
                    while !self.isOver.load(ordering: .relaxed) {
                        try await client()
                        try await Task.sleep(for: .milliseconds(20))
                    }
                }
            }
            defer { isOver.store(true, ordering: .relaxed) }
            try await awaitProgress()
            try await body()
            let resumed = try await awaitProgress()
            isOver.store(true, ordering: .relaxed)
            try await group.waitForAll()
            print("all calls are served \(resumed.milliseconds) ms after the fault; \(journal.entries)")
        }
    }

    private static let kinds = ["guest", "refresh", "link", "register", "log out", "delete", "me"]

    /// Waits until each of these kinds of calls has been served three more times.
    @discardableResult
    func awaitProgress(of kinds: [String] = kinds) async throws -> Duration {
        let before = journal.entries.served
        return try await eventually("each call is served", within: Self.patience) {
            let now = journal.entries.served
            return kinds.allSatisfy { now[$0, default: 0] >= before[$0, default: 0] + 3 }
        }
    }

    // MARK: - Clients

    private func guest() async throws {
        guard let person = try await enter() else { return }
        var account = FaultJournal.Account(person)
        for _ in 1...4 {
            guard let renewed = try await refreshed(account) else { return }
            account = renewed
            journal.note(account)
        }
        let (subject, bearer) = ("subject-\(account.uid)", account.accessToken)
        // Linking renews the session, so until it succeeds the client cannot tell which tokens are valid.
        journal.note { $0.accounts[account.uid] = nil }
        let linked = try await persistently("link", [200]) {
            try await self.first.post("/auth/identities/custom", self.partner.body(of: subject), bearer: bearer)
        }
        guard let linked, linked.status == 200 else { return }
        account = FaultJournal.Account(try Person(linked, email: "", password: ""))
        account.subject = subject
        journal.note(account)
    }

    private func registrar() async throws {
        let email = APIClient.newAddress()
        let registered = try await call("register", [201]) {
            try await self.first.post(
                "/auth/register", ["email": .string(email), "password": .string(APIClient.password)])
        }
        if registered != nil { journal.note { $0.registrations.append(email) } }
    }

    /// Logs out at one replica, and checks how long the other serves the bearer.
    private func leaver(_ replica: APIClient, asking other: APIClient) async throws {
        guard let person = try await enter() else { return }
        let bearer = person.accessToken
        _ = try await call("me", [200]) { try await other.get("/auth/me", bearer: bearer) }
        let loggedOut = try await persistently("log out", [204], orRepeated: 401) {
            try await replica.post("/auth/logout", bearer: bearer)
        }
        journal.note { $0.accounts[person.uid] = nil }
        // A repeated logout is refused if an earlier attempt whose response was lost has ended the session.
        guard loggedOut?.status == 204 else { return }
        journal.note { $0.logouts.append(.init(person)) }
        let end = ContinuousClock.now
        for _ in 1...8 {
            let asked = ContinuousClock.now
            let answer = try await call("me after logout", [200, 401]) {
                try await other.get("/auth/me", bearer: bearer)
            }
            if answer?.status == 200 {
                journal.note { $0.servedAfterLogout = max($0.servedAfterLogout, asked - end) }
            }
            try await Task.sleep(for: .milliseconds(answer?.status == 401 ? 50 : 200))
        }
    }

    private func eraser() async throws {
        let subject = UUID().uuidString
        let signedIn = try await persistently("sign in", [200]) {
            try await self.first.post("/auth/custom", self.partner.body(of: subject))
        }
        guard let signedIn, signedIn.status == 200 else { return }
        var account = FaultJournal.Account(try Person(signedIn, email: "", password: ""))
        account.subject = subject
        let bearer = account.accessToken
        // A repeated deletion is refused if an earlier attempt whose response was lost has deleted the account.
        let deleted = try await persistently("delete", [204], orRepeated: 401) {
            try await self.first.delete("/auth/account", bearer: bearer)
        }
        guard let receipt = deleted?.headers.first(name: "location") else { return }
        let erasure = FaultJournal.Erasure(account: account, receipt: receipt)
        journal.note { $0.erasures.append(erasure) }
    }

    private func reader() async throws {
        guard let person = try await enter() else { return }
        var account = FaultJournal.Account(person)
        for _ in 1...30 where !isOver.load(ordering: .relaxed) {
            let bearer = account.accessToken
            let answer = try await call("me", [200]) { try await self.second.get("/auth/me", bearer: bearer) }
            if answer?.status == 401 {
                guard let renewed = try await refreshed(account) else { return }
                account = renewed
                journal.note(account)
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    private func enter() async throws -> Person? {
        guard let answer = try await call("guest", [200], { try await self.first.post("/auth/anonymous") }) else {
            return nil
        }
        let person = try Person(answer, email: "", password: "")
        journal.note(.init(person))
        return person
    }

    private func refreshed(_ account: FaultJournal.Account) async throws -> FaultJournal.Account? {
        let answer = try await persistently("refresh", [200]) { try await self.first.refresh(account.refreshToken) }
        guard let answer else { return nil }
        var account = account
        account.accessToken = try #require(answer["accessToken"].string)
        account.refreshToken = try #require(answer["refreshToken"].string)
        return account
    }

    // MARK: - Calls

    /// Repeats a call until it succeeds or the load is over.
    ///
    /// A repeated call may also have the status `orRepeated`, because an earlier attempt may have succeeded without a
    /// response.
    private func persistently(
        _ name: String, _ statuses: Set<Int>, orRepeated status: Int? = nil,
        _ body: @Sendable () async throws -> APIClient.Answer
    ) async throws -> APIClient.Answer? {
        var statuses = statuses
        while !isOver.load(ordering: .relaxed) {
            if let answer = try await call(name, statuses, body) { return answer }
            if let status { statuses.insert(status) }
        }
        return nil
    }

    /// Returns the response if it has one of the statuses or refuses a token that a moved clock has made stale, and
    /// records any other.
    private func call(
        _ name: String, _ statuses: Set<Int>, _ body: @Sendable () async throws -> APIClient.Answer
    ) async throws -> APIClient.Answer? {
        let start = ContinuousClock.now
        let outcome: Result<APIClient.Answer, any Error>
        do { outcome = .success(try await body()) } catch { outcome = .failure(error) }
        let elapsed = ContinuousClock.now - start
        let answer = try? outcome.get()
        let isServed = answer.map { statuses.contains($0.status) } ?? false
        let isStale = !isServed && excuses.contains(.staleTokens) && answer?.refusesTokenByAge == true
        journal.note { entries in
            entries.slowest = max(entries.slowest, elapsed)
            switch outcome {
            case .success where isServed: entries.served[name, default: 0] += 1
            case .success where isStale: break
            case .success(let answer) where answer.isWellFormedRefusal: entries.refused += 1
            case .success(let answer): entries.oddities.append("\(name): \(answer.status) \(answer.text)")
            case .failure where excuses.contains(.silence): entries.unanswered += 1
            case .failure(let error): entries.oddities.append("\(name): \(error)")
            }
        }
        guard isServed || isStale else {
            try await Task.sleep(for: .milliseconds(50))
            return nil
        }
        return answer
    }
}

extension APIClient.Answer {
    fileprivate var refusesTokenByAge: Bool {
        (status == 401 && code == "INVALID_TOKEN") || (status == 403 && code == "TOKEN_TOO_OLD")
    }

    /// Whether it is the documented refusal of a server that cannot answer at the moment.
    var isWellFormedRefusal: Bool {
        status == 503 && code == "OVERLOADED" && (retryAfter ?? 0) >= 1
    }
}
