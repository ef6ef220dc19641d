import Accounts
import GatehouseTesting
import NIOHTTP1
import ProviderKit

@testable import GatehouseServer

/// One of several clients that concurrently change the same few accounts, each by its own random sequence.
struct HistoryClient: Sendable {
    private let client: APIClient
    private let ledger: HistoryLedger
    private var generator: SeededGenerator
    /// The people whose sessions this client holds, including ended sessions, as an app may hold them.
    private var people: [Person] = []
    /// The uids of people who began as guests: once a guest is absorbed, its bearers lead to the other account.
    private var guests: Set<String> = []
    private var tickets: [(token: String, of: Person)] = []
    private var merges: [(id: String, by: Person)] = []
    private var restoreTokens: [String] = []

    init(_ client: APIClient, seed: UInt64, ledger: HistoryLedger) {
        self.client = client
        self.ledger = ledger
        generator = SeededGenerator(seed: seed)
    }

    mutating func step() async throws {
        let choice = HistoryChoice(using: &generator)
        let actor = people.isEmpty ? nil : people[choice.actor % people.count]
        switch choice.action {
        case .enterAsGuest:
            try await meet(call("guest", [200]) { try await $0.post("/auth/anonymous") })
        case .link:
            if let actor { return try await link(choice, actor) }
        case .merge:
            if !tickets.isEmpty { return try await merge(choice) }
            if let actor { return try await link(choice, actor) }
        case .undo:
            if !merges.isEmpty { return try await undo(choice) }
        case .unlink:
            if let actor { return try await unlink(choice, actor) }
        case .delete:
            if let actor { return try await delete(actor) }
        case .restore:
            if !restoreTokens.isEmpty { return try await restore(choice) }
        case .refresh:
            if let actor { return try await refresh(actor) }
        case .signIn:
            break
        }
        if choice.action != .enterAsGuest { try await signIn(choice) }
    }

    // MARK: - Actions

    private mutating func signIn(_ choice: HistoryChoice) async throws {
        let answer = try await call("sign-in", [200], refusals: ["ACCOUNT_DELETED"]) {
            try await $0.present(HistorySubjects.evidence(choice.subject))
        }
        try meet(answer)
    }

    private mutating func link(_ choice: HistoryChoice, _ actor: Person) async throws {
        let answer = try await call("link", [200], refusals: ["IDENTITY_IN_USE", "ACCOUNT_DELETED", "INVALID_TOKEN"]) {
            try await $0.link(
                HistorySubjects.evidence(choice.subject), bearer: actor.accessToken,
                onConflict: choice.onConflict.rawValue)
        }
        if let ticket = answer.json["error"]["details"]["mergeToken"].string {
            remember((ticket, actor), in: &tickets)
        } else if answer.code == "IDENTITY_IN_USE" {
            ledger.note(oddity: "no ticket: \(answer.text)")
        }
        if answer.status == 200, choice.onConflict == .keep, !guests.contains(actor.uid),
            answer["user"]["id"].string != actor.uid
        {
            ledger.note(oddity: "linked to another account than \(actor.uid): \(answer.text)")
        }
        try meet(answer)
    }

    private mutating func merge(_ choice: HistoryChoice) async throws {
        let index = choice.pick % tickets.count
        let ticket = tickets[index]
        let answer = try await call("merge", [200], refusals: ["INVALID_TOKEN"]) {
            try await $0.merge(
                ticket.token, bearer: ticket.of.accessToken, survivor: choice.survivor?.rawValue,
                dryRun: choice.isDryRun)
        }
        if !choice.isDryRun || answer.status != 200 { tickets.remove(at: index) }
        guard answer.status == 200, !choice.isDryRun else { return }
        let survivor = answer["merge"]["survivor"]
        if answer["user"]["id"] != survivor || survivor == answer["merge"]["absorbed"] {
            ledger.note(oddity: "no session of the survivor: \(answer.text)")
        }
        try meet(answer)
        guard let id = answer["merge"]["id"].string, let person = people.last else { return }
        remember((id, person), in: &merges)
    }

    private mutating func undo(_ choice: HistoryChoice) async throws {
        let merge = merges.remove(at: choice.pick % merges.count)
        _ = try await call("undo", [204], refusals: ["INVALID_TOKEN", "NOT_FOUND", "LAST_USABLE_IDENTITY"]) {
            try await $0.post("/auth/merges/\(merge.id)/undo", bearer: merge.by.accessToken)
        }
    }

    private func unlink(_ choice: HistoryChoice, _ actor: Person) async throws {
        let listed = try await call("identities", [200], refusals: ["INVALID_TOKEN"]) {
            try await $0.get("/auth/identities", bearer: actor.accessToken)
        }
        let identities = listed["identities"].array ?? []
        if listed.status == 200, identities.isEmpty { ledger.note(oddity: "no identities: \(actor.uid)") }
        guard !identities.isEmpty, let id = identities[choice.pick % identities.count]["id"].string else { return }
        let refusals: Set = ["INVALID_TOKEN", "IDENTITY_NOT_FOUND", "LAST_USABLE_IDENTITY"]
        _ = try await call("unlink", [200], refusals: refusals) {
            try await $0.delete("/auth/identities/\(id)", bearer: actor.accessToken)
        }
    }

    private func delete(_ actor: Person) async throws {
        _ = try await call("delete", [204], refusals: ["INVALID_TOKEN"]) {
            try await $0.delete("/auth/account", bearer: actor.accessToken)
        }
    }

    private mutating func restore(_ choice: HistoryChoice) async throws {
        let token = restoreTokens.remove(at: choice.pick % restoreTokens.count)
        let answer = try await call("restore", [200], refusals: ["INVALID_TOKEN"]) {
            try await $0.post("/auth/account/restore", ["restoreToken": .string(token)])
        }
        if answer.status == 200, answer["isNewAccount"] != false {
            ledger.note(oddity: "restored something new: \(answer.text)")
        }
        try meet(answer)
    }

    private func refresh(_ actor: Person) async throws {
        let answer = try await call("refresh", [200], refusals: ["INVALID_REFRESH_TOKEN"]) {
            try await $0.refresh(actor.refreshToken)
        }
        if let token = answer["accessToken"].string { try note(token) }
    }

    // MARK: - Parts

    private func call(
        _ name: String, _ statuses: Set<Int>, refusals: Set<String> = [],
        _ body: (APIClient) async throws -> APIClient.Answer
    ) async throws -> APIClient.Answer {
        var answer = try await body(client)
        // On a slow cluster a call may wait too long for the locks of others. It has changed nothing, and is repeated.
        var repeats = 0
        while answer.status == 503, repeats < 3, try await TemporaryPostgres.isDistributed {
            repeats += 1
            answer = try await body(client)
        }
        ledger.note(answer: "\(name) \(answer.status) \(answer.code ?? "")")
        let isRefusal = (400..<500).contains(answer.status) && answer.code.map(refusals.contains) == true
        if !statuses.contains(answer.status), !isRefusal {
            ledger.note(oddity: "\(name): \(answer.status) \(answer.text)")
        }
        return answer
    }

    /// Stores the session, or the restore token of an account that is being deleted.
    private mutating func meet(_ answer: APIClient.Answer) throws {
        if let token = answer.json["error"]["details"]["restoreToken"].string {
            remember(token, in: &restoreTokens)
        }
        guard answer.status == 200 else { return }
        let person = try Person(answer, email: "", password: "")
        try note(person.accessToken)
        remember(person, in: &people)
        if answer["user"]["isAnonymous"] == true { guests.insert(person.uid) }
    }

    private func note(_ token: String) throws {
        let claims = try DecodedToken(token).claims
        ledger.note(token, ofSession: "\(claims["sid"].string ?? "") \(claims["gen"].integer ?? 0)")
    }

    /// Appends an item and keeps only the latest eight.
    private func remember<Item>(_ item: Item, in items: inout [Item]) {
        if items.count == 8 { items.removeFirst() }
        items.append(item)
    }
}
