import Accounts
import Delivery
import Foundation
import Logging
import ServiceLifecycle
import Synchronization
import ProviderKit
import Testing

@testable import GatehouseServer

struct ConfigurationReloadTests {
    private let directory: TemporaryDirectory
    private let path: String
    private let log = CollectedLog()
    private let taken = TakenOver()

    init() throws {
        directory = try TemporaryDirectory()
        path = try directory.write(Self.file())
    }

    private static func file(
        audience: String = "demo", port: Int = 8080, login: String = "5/min", defaultApplication: String = "demo",
        name: String = "demo", secret: String = "whsec_AAAA"
    ) -> String {
        """
        server: { port: \(port) }
        \(Fixture.required)
        rateLimits: { login: \(login) }
        webhooks: [{ url: "https://hooks.example", secret: "\(secret)" }]
        defaultApplication: \(defaultApplication)
        applications: { \(name): { audience: \(audience) } }
        """
    }

    private func reload() throws -> ConfigurationReload {
        let configuration = try Configuration.load(path: path, environment: [:], installed: InstalledProviders([]))
        return ConfigurationReload(
            of: configuration, path: path, environment: [:], installed: InstalledProviders([]), logger: log.logger,
            takeOver: { [taken] in try taken.take($0, $1) })
    }

    @Test func `an unchanged file is not read again`() async throws {
        let reload = try reload()
        await reload.poll()
        #expect(taken.all.isEmpty && log.lines.isEmpty)
    }

    @Test func `changed sections are named and applied`() async throws {
        let reload = try reload()
        try directory.write(Self.file(audience: "other", login: "off"))
        await reload.poll()
        await reload.poll()
        #expect(taken.all.map(\.sections) == [[.applications, .rateLimits]])
        #expect(taken.all.first?.configuration.applications.first?.audience == "other")
        #expect(taken.all.first?.configuration.rateLimits[.login] == nil)
        #expect(log.lines == ["notice configuration taken over applications rateLimits"])
    }

    @Test func `a file that changed before the first poll is read too`() async throws {
        let reload = try reload()
        try directory.write(Self.file(audience: "other"))
        await reload.poll()
        #expect(taken.all.count == 1)
    }

    @Test func `only what is written differently counts as changed`() async throws {
        let reload = try reload()
        try directory.write("# a comment\n\n" + Self.file())
        await reload.poll()
        #expect(taken.all.isEmpty && log.lines.isEmpty)
    }

    @Test func `a broken file is reported once and the old one stays`() async throws {
        let reload = try reload()
        try directory.write(Self.file(login: "often"))
        await reload.poll()
        await reload.poll()
        #expect(taken.all.isEmpty)
        #expect(log.lines.count == 1)
        #expect(
            log.lines.first?.hasPrefix(
                "error changed configuration refused, the old one stays \(path):5: rateLimits.login: expected") == true)
        try directory.write(Self.file())
        await reload.poll()
        await reload.poll()
        #expect(log.lines.dropFirst() == ["notice configuration is the one in force again"])
        try directory.write(Self.file(login: "6/min"))
        await reload.poll()
        #expect(taken.all.map(\.sections) == [[.rateLimits]])
    }

    @Test func `a missing file is reported, and read once it is back`() async throws {
        let reload = try reload()
        try FileManager.default.removeItem(atPath: path)
        await reload.poll()
        #expect(log.lines.count == 1 && taken.all.isEmpty)
        try directory.write(Self.file(audience: "back"))
        await reload.poll()
        #expect(taken.all.map(\.sections) == [[.applications]])
    }

    @Test func `a fault that occurs again is reported again`() async throws {
        let reload = try reload()
        for _ in 1...2 {
            #expect(rename(path, "\(path).aside") == 0)
            await reload.poll()
            await reload.poll()
            #expect(rename("\(path).aside", path) == 0)
            await reload.poll()
        }
        #expect(log.lines.map { $0.prefix(6) } == ["error ", "notice", "error ", "notice"])
        #expect(log.lines.last == "notice configuration is the one in force again")
        #expect(taken.all.isEmpty)
    }

    @Test func `sections that need a restart are named and keep their values`() async throws {
        let reload = try reload()
        try directory.write(Self.file(audience: "other", port: 9090))
        await reload.poll()
        let configuration = try #require(taken.all.first?.configuration)
        #expect(taken.all.map(\.sections) == [[.applications]])
        #expect(configuration.server.port == 8080)
        #expect(configuration.applications.first?.url == "http://127.0.0.1:8080")
        #expect(
            log.lines == [
                "notice configuration taken over applications",
                "warning configuration changed where it needs a restart server",
            ])
        // A refused file says nothing about the sections that wait.
        #expect(rename(path, "\(path).aside") == 0)
        await reload.poll()
        #expect(rename("\(path).aside", path) == 0)
        await reload.poll()
        #expect(log.lines.last == "warning configuration changed where it needs a restart server")
        try directory.write(Self.file(audience: "other"))
        await reload.poll()
        await reload.poll()
        #expect(log.lines.count == 5 && log.lines.last == "notice configuration is the one in force again")
    }

    @Test func `the running default application cannot be removed`() async throws {
        let reload = try reload()
        try directory.write(Self.file(defaultApplication: "other", name: "other"))
        await reload.poll()
        #expect(taken.all.isEmpty)
        #expect(log.lines.first?.contains("the running server's default") == true)
    }

    @Test func `a failed reload is tried again`() async throws {
        let reload = try reload()
        try directory.write(Self.file(audience: "other"))
        taken.failures = 2
        await reload.poll()
        await reload.poll()
        #expect(taken.all.isEmpty)
        #expect(log.lines.count == 1)
        await reload.poll()
        #expect(taken.all.map(\.sections) == [[.applications]])
    }

    @Test func `a secret's file counts as part of its section`() async throws {
        try directory.write("whsec_AAAA", to: "hook")
        try directory.write(Self.file(secret: "file:hook"))
        let reload = try reload()
        try directory.write("whsec_BBBB", to: "hook")
        await reload.poll()
        #expect(taken.all.map(\.sections) == [[.webhooks]])
        #expect(taken.all.first?.configuration.webhooks.first?.secret.value == "whsec_BBBB")
    }

    @Test func `a template that is added, renamed or removed is a change`() async throws {
        let language = "\(directory.path)/mails/en"
        try FileManager.default.createDirectory(atPath: "\(directory.path)/mails", withIntermediateDirectories: true)
        try directory.write(Self.file() + "\ndelivery: { templates: mails }")
        let reload = try reload()
        try FileManager.default.createDirectory(atPath: language, withIntermediateDirectories: true)
        try age("mails", by: 4)
        await reload.poll()
        #expect(taken.all.last?.configuration.delivery.templates == TemplateOverrides.none)

        try directory.write("Changed", to: "mails/en/passwordChanged.subject")
        try age("mails/en", by: 3)
        await reload.poll()
        let added = try TemplateOverrides(files: ["en/passwordChanged.subject": "Changed"])
        #expect(taken.all.last?.configuration.delivery.templates == added)

        #expect(rename("\(language)/passwordChanged.subject", "\(language)/passwordReset.subject") == 0)
        try age("mails/en", by: 2)
        await reload.poll()
        let renamed = try TemplateOverrides(files: ["en/passwordReset.subject": "Changed"])
        #expect(taken.all.last?.configuration.delivery.templates == renamed)

        try FileManager.default.removeItem(atPath: "\(language)/passwordReset.subject")
        try age("mails/en", by: 1)
        await reload.poll()
        #expect(taken.all.last?.configuration.delivery.templates == TemplateOverrides.none)
        #expect(taken.all.map(\.sections) == Array(repeating: [.delivery], count: 4))
        #expect(log.lines == Array(repeating: "notice configuration taken over delivery", count: 4))
    }

    /// Sets the time at which a directory was changed, because a file system may date two changes of a few milliseconds
    /// alike.
    private func age(_ name: String, by minutes: Double) throws {
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSinceNow: -60 * minutes)], ofItemAtPath: "\(directory.path)/\(name)")
    }

    @Test func `an exchanged symbolic link is a change`() async throws {
        let first = try directory.write(Self.file(), to: "first.yaml")
        let second = try directory.write(Self.file(audience: "omed"), to: "second.yaml")
        for file in [first, second] {
            let date = Date(timeIntervalSince1970: 1_000_000_000)
            try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: file)
        }
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: first)
        let reload = try reload()
        try FileManager.default.createSymbolicLink(atPath: "\(path).new", withDestinationPath: second)
        #expect(rename("\(path).new", path) == 0)
        await reload.poll()
        #expect(taken.all.map(\.sections) == [[.applications]])
    }

    @Test func `the watcher polls at each tick until it is told to stop`() async throws {
        let clock = SteppingClock()
        let watcher = ConfigurationWatcher(reload: try reload(), clock: clock)
        async let running: Void = watcher.run()
        try directory.write(Self.file(audience: "other"))
        await clock.tick()
        await clock.tick()
        await clock.sleeping()
        #expect(taken.all.count == 1)
        await clock.cancelSleep()
        try await running
    }

    @Test func `a file is applied once two polls have found it unchanged`() async throws {
        let reload = try reload()
        for audience in ["partial", "other"] {
            try directory.write(Self.file(audience: audience))
            await reload.pollCompleteFiles()
            #expect(taken.all.isEmpty)
        }
        await reload.pollCompleteFiles()
        #expect(taken.all.map { $0.configuration.applications.first?.audience } == ["other"])
    }
}

/// Records the configurations that a server would have applied, and throws as often as a test requests.
private final class TakenOver: Sendable {
    private let state = Mutex(
        (all: [(configuration: Configuration, sections: Set<Configuration.Section>)](), failures: 0))

    struct Refused: Error {}

    var all: [(configuration: Configuration, sections: Set<Configuration.Section>)] { state.withLock { $0.all } }

    var failures: Int {
        get { state.withLock { $0.failures } }
        set { state.withLock { $0.failures = newValue } }
    }

    func take(_ configuration: Configuration, _ sections: Set<Configuration.Section>) throws {
        try state.withLock { state in
            guard state.failures == 0 else {
                state.failures -= 1
                throw Refused()
            }
            state.all.append((configuration, sections))
        }
    }
}

/// A clock whose only sleeping task wakes when a test advances it.
private actor SteppingClock: Clock {
    typealias Duration = Swift.Duration
    typealias Instant = ContinuousClock.Instant

    nonisolated var now: Instant { ContinuousClock.now }
    nonisolated var minimumResolution: Duration { .zero }
    private var sleeper: CheckedContinuation<Void, any Error>?
    private var waiter: CheckedContinuation<Void, Never>?

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try await withCheckedThrowingContinuation { continuation in
            sleeper = continuation
            waiter?.resume()
            waiter = nil
        }
    }

    /// Waits until a task is sleeping.
    func sleeping() async {
        if sleeper == nil { await withCheckedContinuation { waiter = $0 } }
    }

    func tick() async {
        await sleeping()
        sleeper?.resume()
        sleeper = nil
    }

    func cancelSleep() async {
        await sleeping()
        sleeper?.resume(throwing: CancellationError())
        sleeper = nil
    }
}
