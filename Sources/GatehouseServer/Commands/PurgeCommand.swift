internal import Accounts
internal import ArgumentParser
internal import Delivery
internal import Foundation
internal import Logging
internal import ServiceLifecycle
internal import Storage
internal import UnixSignals

/// `gatehouse purge`: what the server's scheduler does, by hand.
///
/// It has workers of its own, so that it needs no running server; they take only events and tokens of the accounts that
/// it erases, and finish what they have taken before the command ends.
struct PurgeCommand: ServerCommand {
    static let configuration = CommandConfiguration(
        commandName: "purge",
        abstract: "Erases accounts whose grace period is over, and tells again who has not acknowledged it.")

    @OptionGroup var options: ConfigurationOptions
    @Option(help: "Only this account, without waiting for its grace period.", transform: { try uid($0) })
    var now: UUID?
    @Flag(help: "Only says what would be erased.")
    var dryRun = false
    @Option(help: "Only this application's.")
    var application: String?

    /// Longer than an attempt to tell somebody takes.
    private static let patience: Duration = .seconds(20)
    private static let look: Duration = .milliseconds(100)

    func run(installed: InstalledProviders) async throws {
        let (_, configuration) = try options.load(installed: installed)
        try await Backend.with(configuration, logger: .forCommands, schema: .current) { backend in
            let names = Set(try await backend.applications(named: application).map(\.name))
            let all = try await backend.scopes(of: configuration)
            let scopes = all.filter { names.contains($0.application.name) }
            switch (now, dryRun) {
            case (let uid?, true): try await announce(uid, in: scopes, purge: backend.purge)
            case (nil, true): try await announceAll(in: scopes, backend: backend)
            case (let uid?, false):
                try await withWorkers(of: backend, for: all) { own in
                    try await erase(uid, in: scopes, backend: backend, own: own)
                }
            case (nil, false):
                try await withWorkers(of: backend, for: all) { own in
                    try await eraseAll(in: scopes, backend: backend, own: own)
                }
            }
            await installed.ports.shutdown()
        }
    }

    private static func uid(_ text: String) throws -> UUID {
        guard let uid = UUID(uuidString: text) else { throw ValidationError("\(text) is no uid") }
        return uid
    }
}

// MARK: - One account

extension PurgeCommand {
    private func erase(
        _ uid: UUID, in scopes: [ErasureScope], backend: Backend, own: PurgedAccounts
    ) async throws {
        let purge = backend.purge
        let (erasure, scope) = try await find(uid, in: scopes, purge: purge)
        own.insert([erasure.uid])
        try await purge.begin(of: erasure.uid, in: scope.application)
        var progress = try await purge.erase(erasure, in: scope)
        if case .waiting = progress {
            try await retry([erasure], purge: purge)
            progress = try await purge.erase(erasure, in: scope)
        }
        switch progress {
        case .void:
            // Its owner has just restored it.
            throw ServerError.liveAccount(erasure.uid)
        case .waiting(let processors):
            throw ServerError.unacknowledged(erasure.uid, by: processors.map(\.name), isErased: false)
        case .erased(let missing):
            print("erased \(erasure.uid.text)")
            try await awaitDeliveries(about: own, of: scope, backend: backend)
            guard missing.isEmpty else {
                throw ServerError.unacknowledged(erasure.uid, by: missing.map(\.name), isErased: true)
            }
        }
    }

    private func announce(_ uid: UUID, in scopes: [ErasureScope], purge: Purge) async throws {
        let (erasure, scope) = try await find(uid, in: scopes, purge: purge)
        print(try await line(about: erasure, of: scope, purge: purge))
    }

    /// - Throws: `ServerError.unknownAccount`, `ServerError.liveAccount`.
    private func find(
        _ uid: UUID, in scopes: [ErasureScope], purge: Purge
    ) async throws -> (DueErasure, ErasureScope) {
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
}

// MARK: - All accounts

extension PurgeCommand {
    private func eraseAll(in scopes: [ErasureScope], backend: Backend, own: PurgedAccounts) async throws {
        let purge = backend.purge
        for scope in scopes {
            try await purge.begin(in: scope.application)
            own.insert(try await backend.store.retryUnacknowledged(application: scope.application.id))
            _ = try await purge.deleteIdleGuests(of: scope)
            var waiting: [DueErasure] = []
            let due = try await backend.store.dueErasures(of: scope.application.id)
            own.insert(due.map(\.uid))
            for erasure in due {
                switch try await purge.erase(erasure, in: scope) {
                case .void: continue
                case .erased: print("erased \(erasure.uid.text)")
                case .waiting: waiting.append(erasure)
                }
            }
            try await retry(waiting, purge: purge)
            for erasure in waiting {
                switch try await purge.erase(erasure, in: scope) {
                case .void: continue
                case .erased: print("erased \(erasure.uid.text)")
                case .waiting: print(try await line(about: erasure, of: scope, purge: purge))
                }
            }
            try await awaitDeliveries(about: own, of: scope, backend: backend)
        }
        _ = try await ExpiredRows(database: backend.database).remove()
    }

    private func announceAll(in scopes: [ErasureScope], backend: Backend) async throws {
        for scope in scopes {
            for erasure in try await backend.store.dueErasures(of: scope.application.id) {
                print(try await line(about: erasure, of: scope, purge: backend.purge))
            }
            try await backend.purge.forEachIdleGuest(of: scope) { guest in
                print("due \(guest.uid.text) of \(scope.application.name), a guest whom nobody has heard of")
            }
        }
    }

    private func line(about erasure: DueErasure, of scope: ErasureScope, purge: Purge) async throws -> String {
        let missing = try await purge.processors(of: erasure).filter { !$0.isAcknowledged }.map(\.name)
        return "due \(erasure.uid.text) of \(scope.application.name)"
            + (missing.isEmpty ? "" : ", not acknowledged by: \(missing.joined(separator: ", "))")
    }
}

// MARK: - Telling again

extension PurgeCommand {
    /// Returns once every processor has acknowledged the erasures, was tried once more in vain, or is given up.
    private func retry(_ erasures: [DueErasure], purge: Purge) async throws {
        var before: [UUID: Int] = [:]
        for erasure in erasures {
            before[erasure.receipt] = try await purge.processors(of: erasure).map(\.attempts).min() ?? 0
            try await purge.retry(erasure)
        }
        let deadline = ContinuousClock.now + Self.patience
        while ContinuousClock.now < deadline {
            var isOpen = false
            for erasure in erasures {
                let tried = before[erasure.receipt] ?? 0
                isOpen =
                    try await purge.processors(of: erasure).contains { processor in
                        processor.status == .pending && (processor.isUnderWay || processor.attempts <= tried)
                    } || isOpen
            }
            guard isOpen else { return }
            try await Task.sleep(for: Self.look)
        }
    }

    /// Returns once each event about these accounts that is due has been tried.
    private func awaitDeliveries(
        about own: PurgedAccounts, of scope: ErasureScope, backend: Backend
    ) async throws {
        let deadline = ContinuousClock.now + Self.patience
        while ContinuousClock.now < deadline,
            try await backend.store.hasDueDeliveries(about: Array(own.uids), application: scope.application.id)
        {
            try await Task.sleep(for: Self.look)
        }
    }

    /// The workers log nothing: the command's own lines tell who has not acknowledged.
    private func withWorkers(
        of backend: Backend, for scopes: [ErasureScope],
        _ body: @Sendable @escaping (PurgedAccounts) async throws -> Void
    ) async throws {
        let own = PurgedAccounts()
        var silent = backend.logger
        silent.logLevel = .critical
        let webhooks = QueueWorker(
            EventHandler(
                queue: backend.events(.accounts { own.uids }), webhooks: backend.webhooks, by: backend.posting),
            logger: silent)
        let revocations = QueueWorker(
            RevocationHandler(
                queue: backend.revocationQueue(.accounts { own.uids }), providers: LiveScopes(scopes)),
            logger: silent)
        let work = CommandWork { try await body(own) }
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
