internal import Accounts
internal import Administration
internal import ArgumentParser
internal import Delivery
internal import Foundation
internal import Logging
internal import ProviderKit
internal import ServiceLifecycle
internal import Storage
internal import UnixSignals

/// `gatehouse purge`: runs the erasures that the server's scheduler would run.
///
/// It does not need a running server. Its own workers deliver the events and revoke the tokens of exactly the accounts
/// that it erases.
struct PurgeCommand: ServerCommand {
    static let configuration = CommandConfiguration(
        commandName: "purge",
        abstract: "Erases accounts whose grace period is over, and repeats events that were not acknowledged.")

    @OptionGroup var options: ConfigurationOptions
    @Option(help: "Erases this account alone, without waiting for its grace period.", transform: UUID.argument)
    var now: UUID?
    @Flag(help: "Only prints what would be erased.")
    var dryRun = false
    @Option(help: "Erases accounts of this application alone.")
    var application: String?

    func run(installed: InstalledProviders) async throws {
        try await options.withBackend(installed) { backend in
            let names = Set(try await backend.applications(named: application).map(\.name))
            let all = try await backend.scopes(of: backend.configuration)
            let run = PurgeRun(backend: backend, scopes: all.filter { names.contains($0.application.name) })
            switch (now, dryRun) {
            case (let uid?, true): try await run.announce(uid)
            case (nil, true): try await run.announceAll()
            case (let uid?, false): try await run.withWorkers(for: all) { try await run.erase(uid) }
            case (nil, false): try await run.withWorkers(for: all) { try await run.eraseAll() }
            }
            await installed.ports.shutdown()
        }
    }
}

/// One run of the command, for the selected applications.
private struct PurgeRun: Sendable {
    let backend: Backend
    let scopes: [ErasureScope]
    /// The accounts whose events this run delivers.
    let accounts = Current<Set<UUID>>([])
    /// How many erasures, or applications, have failed.
    private let failures = Current(0)

    private var purge: Purge { backend.purge }

    /// The time to wait for deliveries; longer than one attempt takes.
    private static let patience: Duration = .seconds(20)
    private static let pollInterval: Duration = .milliseconds(100)
    /// Who runs the purge, for the audit.
    private static var details: [String: JSONValue] { AdministrativeAct.ofThisHost.details }

    // MARK: - One account

    func erase(_ uid: UUID) async throws {
        let (erasure, scope) = try await find(uid)
        accounts.update { $0.insert(erasure.uid) }
        try await purge.begin(of: erasure.uid, details: Self.details, in: scope.application)
        var progress = try await purge.erase(erasure, in: scope)
        if case .waiting = progress {
            try await retry([erasure])
            progress = try await purge.erase(erasure, in: scope)
        }
        switch progress {
        case .void:
            // The account was restored after it was found.
            throw ServerError.liveAccount(erasure.uid)
        case .waiting(let processors):
            throw ServerError.unacknowledged(erasure.uid, by: processors.map(\.name), isErased: false)
        case .erased(let missing):
            print("erased \(erasure.uid.text)")
            try await awaitDeliveries(of: scope)
            guard missing.isEmpty else {
                throw ServerError.unacknowledged(erasure.uid, by: missing.map(\.name), isErased: true)
            }
        }
    }

    func announce(_ uid: UUID) async throws {
        let (erasure, scope) = try await find(uid)
        print(try await line(about: erasure, of: scope))
    }

    /// - Throws: `ServerError.unknownAccount`, `ServerError.liveAccount`.
    private func find(_ uid: UUID) async throws -> (DueErasure, ErasureScope) {
        for scope in scopes {
            do {
                return (try await purge.scheduled(uid, in: scope.application), scope)
            } catch AccountsError.accountNotFound {
                continue
            } catch AccountsError.accountIsLive(let uid) {
                throw ServerError.liveAccount(uid)
            }
        }
        throw ServerError.unknownAccount(uid)
    }

    // MARK: - All accounts

    /// - Throws: `ServerError.failedErasures` after everything was tried.
    func eraseAll() async throws {
        for scope in scopes {
            try await tried("application \(scope.application.name)") { try await eraseAll(of: scope) }
        }
        _ = try await ExpiredRows(database: backend.database).remove()
        guard failures.value == 0 else { throw ServerError.failedErasures(failures.value) }
    }

    private func eraseAll(of scope: ErasureScope) async throws {
        let application = scope.application.id
        try await purge.begin(details: Self.details, in: scope.application)
        let unacknowledged = try await backend.store.retryUnacknowledged(application: application)
        accounts.update { $0.formUnion(unacknowledged) }
        _ = try await purge.deleteIdleGuests(of: scope)
        let due = try await backend.store.dueErasures(of: application)
        accounts.update { $0.formUnion(due.map(\.uid)) }
        let waiting = try await erase(due, of: scope)
        try await retry(waiting)
        for erasure in try await erase(waiting, of: scope) { print(try await line(about: erasure, of: scope)) }
        try await awaitDeliveries(of: scope)
    }

    /// Runs a step whose failure is printed and does not stop the others.
    private func tried(_ step: String, _ body: () async throws -> Void) async throws {
        do {
            try await body()
        } catch let error where !(error is CancellationError) {
            failures.update { $0 += 1 }
            print("failed \(step): \(error)")
        }
    }

    /// - Returns: The erasures that wait for webhooks or upstream services.
    private func erase(_ erasures: [DueErasure], of scope: ErasureScope) async throws -> [DueErasure] {
        var waiting: [DueErasure] = []
        for erasure in erasures {
            try await tried(erasure.uid.text) {
                switch try await purge.erase(erasure, in: scope) {
                case .void: break
                case .erased: print("erased \(erasure.uid.text)")
                case .waiting: waiting.append(erasure)
                }
            }
        }
        return waiting
    }

    func announceAll() async throws {
        for scope in scopes {
            for erasure in try await backend.store.dueErasures(of: scope.application.id) {
                print(try await line(about: erasure, of: scope))
            }
            try await purge.forEachIdleGuest(of: scope) { guest in
                print("due \(guest.uid.text) of \(scope.application.name), an idle guest")
            }
        }
    }

    private func line(about erasure: DueErasure, of scope: ErasureScope) async throws -> String {
        let missing = try await purge.processors(of: erasure).filter { !$0.isAcknowledged }.map(\.name)
        return "due \(erasure.uid.text) of \(scope.application.name)"
            + (missing.isEmpty ? "" : ", not acknowledged by: \(missing.joined(separator: ", "))")
    }

    // MARK: - Deliveries

    /// Waits until every processor of the erasures has acknowledged, has been tried once more, or is given up.
    private func retry(_ erasures: [DueErasure]) async throws {
        var attempts: [UUID: Int] = [:]
        for erasure in erasures {
            attempts[erasure.receipt] = try await purge.processors(of: erasure).map(\.attempts).min() ?? 0
            try await purge.retry(erasure)
        }
        try await poll {
            var isOpen = false
            for erasure in erasures {
                let before = attempts[erasure.receipt] ?? 0
                isOpen =
                    try await purge.processors(of: erasure).contains { processor in
                        processor.status == .pending && (processor.isUnderWay || processor.attempts <= before)
                    } || isOpen
            }
            return isOpen
        }
    }

    /// Waits until each due event about the erased accounts has been tried.
    private func awaitDeliveries(of scope: ErasureScope) async throws {
        try await poll {
            try await backend.store.hasDueDeliveries(about: Array(accounts.value), application: scope.application.id)
        }
    }

    /// Waits while the condition holds, for a limited time.
    private func poll(while isOpen: () async throws -> Bool) async throws {
        let deadline = ContinuousClock.now + Self.patience
        while ContinuousClock.now < deadline, try await isOpen() { try await Task.sleep(for: Self.pollInterval) }
    }

    /// Runs the body beside workers that log nothing, because the command itself prints the missing acknowledgements.
    func withWorkers(for scopes: [ErasureScope], _ body: @Sendable @escaping () async throws -> Void) async throws {
        var silent = backend.logger
        silent.logLevel = .critical
        let webhooks = QueueWorker(
            EventHandler(
                queue: backend.events(.accounts { accounts.value }), webhooks: backend.webhooks, by: backend.posting),
            logger: silent)
        let revocations = QueueWorker(
            RevocationHandler(
                queue: backend.revocationQueue(.accounts { accounts.value }), providers: CurrentScopes(scopes)),
            logger: silent)
        let work = CommandWork(body)
        backend.channel.start()
        defer { backend.channel.stop() }
        try await ServiceGroup(
            configuration: .init(
                services: [
                    .init(service: webhooks), .init(service: revocations),
                    .init(
                        service: work, successTerminationBehavior: .gracefullyShutdownGroup,
                        failureTerminationBehavior: .gracefullyShutdownGroup),
                ], gracefulShutdownSignals: [.sigterm, .sigint], logger: silent)
        ).run()
        try work.result()
    }
}
