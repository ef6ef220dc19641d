internal import Accounts
internal import Administration
internal import Foundation
internal import HTTPAPI
internal import Logging
internal import Outbound
internal import ProviderKit
internal import ServiceLifecycle
internal import Storage
internal import Synchronization

/// Keeps the modes of this server's providers as administrators have switched them.
///
/// Every server reads all switches when one is announced, when one is due to end, and from time to time. A switch that
/// the configuration has overtaken, or whose time is over, is ended by the first server that notices. A server's
/// configuration overtakes only switches that were made before it was loaded: a later switch belongs to a newer
/// configuration, which this server has not loaded yet.
final class SwitchFollower: Sendable {
    private struct State {
        /// Counts the readings; one that began earlier must not replace a later one.
        var begun = 0
        var followed = 0
        var readAt = ContinuousClock.now
        /// When the next switch is due to end.
        var nextEnd: Date?
        /// The applications in which there may be people to tell, or sessions to end.
        var busy: [Accounts.Application] = []
        /// When the configuration was loaded, by the clock of the database; `nil` until that is asked.
        var configuredAt: Date?
        /// Whether the modes of an application could not be recorded.
        var isUnrecorded = false
    }

    private let backend: Backend
    private let site: LiveSite
    private let types: [any Provider.Type]
    private let time: any TimeSource
    private let state = Mutex(State())
    /// An element for each configuration whose modes are yet to be recorded.
    private let configurations = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    private let changes: AsyncStream<Void>

    init(backend: Backend, site: LiveSite, types: [any Provider.Type], time: any TimeSource) {
        (self.backend, self.site, self.types, self.time) = (backend, site, types, time)
        changes = backend.channel.switchChanges()
        configurations.continuation.yield()
    }

    /// Switching at this server, which follows a switch before it answers.
    var useCase: ProviderSwitches {
        ProviderSwitches(store: backend.store, time: time) { [weak self] in try? await self?.refresh() }
    }

    /// Reads the switches and follows them.
    func refresh() async throws {
        let reading = state.withLock { state in
            state.begun += 1
            return state.begun
        }
        let table = ProviderSwitchesTable(database: backend.database)
        // First the time, so that it is never that of a later configuration.
        let configuredAt = try await timeOfConfiguration(table)
        let configured = site.configured.applications.values.map(\.application)
        var modes: SwitchedModes = [:]
        var ends: [Date] = []
        for (id, made) in try await table.all() {
            // An application that this server does not have is another server's.
            guard let application = configured.first(where: { $0.id == id }) else { continue }
            let provider = application.providers[made.provider]
            let reason = made.end(under: provider?.declaration.mode)
            if let reason, reason == .date || made.since < configuredAt {
                try await ProviderSwitches(store: backend.store, time: time).end(made, because: reason, application: id)
            } else if provider?.isReady == true {
                // A provider that is off in an older configuration may lack its settings there.
                modes[id, default: [:]][made.provider] = made.mode
                ends.append(made.until)
            }
        }
        state.withLock { state in
            guard reading > state.followed else { return }
            (state.followed, state.readAt) = (reading, .now)
            state.nextEnd = ends.min()
            site.follow(modes)
        }
        // Afterwards, because the work is less urgent, and that of a switch which has just ended may be left.
        let busy = try await table.busyApplications()
        state.withLock { state in
            if reading == state.followed { state.busy = configured.filter { busy.contains($0.id) } }
        }
    }

    private func timeOfConfiguration(_ table: ProviderSwitchesTable) async throws -> Date {
        if let time = state.withLock({ $0.configuredAt }) { return time }
        let now = try await table.now()
        state.withLock { $0.configuredAt = now }
        return now
    }

    /// Ends the switches that a reloaded configuration has overtaken, and lets its modes be recorded.
    func followReload() async {
        state.withLock { $0.configuredAt = nil }
        do {
            try await refresh()
        } catch {
            backend.logger.warning("Switches of providers are read again later", metadata: ["error": "\(error)"])
        }
        configurations.continuation.yield()
    }

    /// Follows what other servers announce.
    func follow() async {
        for await _ in changes {
            // `tend` tries again.
            try? await refresh()
        }
    }

    /// Reads the switches again when one is due to end, and after the longest pause.
    func tend() async throws {
        let (readAt, nextEnd) = state.withLock { ($0.readAt, $0.nextEnd) }
        let isOver = nextEnd.map { $0 <= time.now() } ?? false
        guard isOver || readAt.duration(to: .now) >= ProviderSwitch.longestLag else { return }
        try await refresh()
    }

    /// Tells people that they can't sign in any more, and ends sessions, as switches say.
    func work() async throws {
        for application in state.withLock({ $0.busy }) {
            while try await useCase.work(on: application) > 0 {}
        }
    }

    /// Records the modes of each configuration, which takes as long as accounts are counted.
    func record() async {
        let modes = ProviderModes(store: backend.store)
        let failures = WorkLog("Changed modes of providers are not in the audit yet", logger: backend.logger)
        for await _ in configurations.stream {
            let recorded: Void? = await failures.watch {
                var failure: (any Error)?
                for served in site.configured.applications.values {
                    do {
                        try await modes.record(of: served.application, types: types)
                    } catch {
                        failure = error
                    }
                }
                if let failure { throw failure }
            }
            state.withLock { $0.isUnrecorded = recorded == nil }
        }
    }

    /// Lets the modes be recorded again if that has failed.
    func recordAgain() {
        if state.withLock({ $0.isUnrecorded }) { configurations.continuation.yield() }
    }
}

/// Follows the switches until the server shuts down.
struct SwitchService: Service {
    let switches: SwitchFollower

    private static let recordingPause: Duration = .seconds(60)

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                group.addTask { await switches.follow() }
                group.addTask { await switches.record() }
                group.addTask {
                    while (try? await Task.sleep(for: Self.recordingPause)) != nil { switches.recordAgain() }
                }
            }
        }
    }
}
