import Foundation
import GatehouseTesting
import Glibc
import Migrations
import Postgres
import Testing

@testable import GatehouseServer

/// Clocks jump while sessions, leases and queues are in use; needs Debian's package `faketime`.
@Suite(.serialized, .longMode) struct ClockJumpTests {
    /// The machine whose clock jumps.
    enum Machine: CaseIterable {
        case writingReplica, readingReplica, database

        /// The offsets from the time of the other machines.
        ///
        /// The database's clock ends ahead, because what it wrote at a later time is due only then.
        var offsets: [String] {
            self == .database ? ["+40m", "-40m", "+3h"] : ["+40m", "-50s", "-40m", "+0"]
        }
    }

    @Test(
        .enabled(if: MovableClock.library != nil || NeededProgram.isStrict, "the package faketime is not installed"),
        arguments: Machine.allCases)
    func `a clock that jumps ends no live session and revives no ended one`(machine: Machine) async throws {
        try await MovableClock.with { clock in
            let cluster = TemporaryPostgres.cluster()
            try await clock.withEnvironment(machine == .database ? clock.variables : [:]) { try await cluster.start() }
            try await attempt {
                try Database.runAlone("CREATE DATABASE faults", url: cluster.url)
                try await FaultServers.with(database: cluster.url(database: "faults")) { servers in
                    try await jump(clock, of: machine, servers)
                }
            } finally: {
                await cluster.stop()
            }
        }
    }

    private func jump(_ clock: MovableClock, of machine: Machine, _ servers: FaultServers) async throws {
        let replica: Replica? =
            switch machine {
            case .writingReplica: servers.first
            case .readingReplica: servers.second
            case .database: nil
            }
        try await replica?.end(by: SIGTERM)
        try await replica?.start(environment: clock.variables)
        let load = servers.load(excusing: .staleTokens)
        try await load.run {
            for offset in machine.offsets {
                try clock.set(offset)
                // Calls that judge the age of a token are refused while the clocks disagree.
                try await load.awaitProgress(of: ["guest", "refresh", "register", "log out"])
            }
        }
        try await servers.verify(load.journal.entries)
    }
}

/// A clock of processes that a test moves, by libfaketime.
private struct MovableClock {
    static let library: String? = ["x86_64", "aarch64"]
        .map { "/usr/lib/\($0)-linux-gnu/faketime/libfaketime.so.1" }
        .first { FileManager.default.fileExists(atPath: $0) }

    /// The environment of the processes that have this clock.
    let variables: [String: String]
    private let directory: ProcessDirectory

    /// Runs the body with a clock that shows the real time at first.
    ///
    /// `faketime` creates the semaphore and the memory that the processes share. If libfaketime created them in a
    /// server, it would move `environ`, from which Swift finds the arguments.
    static func with(_ body: (MovableClock) async throws -> Void) async throws {
        try await ProcessDirectory.with { directory in
            try directory.write("", to: "hold")
            let script = #"echo "$FAKETIME_SHARED"; while test -e hold; do sleep 0.1; done"#
            let holder = ["--exclude-monotonic", "-f", "+0", "sh", "-c", script]
            try await GatehouseProcess.with(holder, program: "faketime", in: directory) { holder in
                try await eventually("the clock is there") { holder.output.hasSuffix("\n") }
                let shared = holder.output.trimmingCharacters(in: .whitespacesAndNewlines)
                for name in shared.split(separator: " ").map({ $0.dropFirst() }) {
                    // PostgreSQL runs as another user.
                    for path in ["/dev/shm/\(name)", "/dev/shm/sem.\(name)"] { chmod(path, 0o666) }
                }
                let clock = MovableClock(
                    variables: [
                        "LD_PRELOAD": library ?? "", "FAKETIME_SHARED": shared, "FAKETIME_NO_CACHE": "1",
                        "FAKETIME_DONT_FAKE_MONOTONIC": "1", "FAKETIME_TIMESTAMP_FILE": directory.path("offset"),
                    ], directory: directory)
                try clock.set("+0")
                let outcome: Result<Void, any Error>
                do { outcome = .success(try await body(clock)) } catch { outcome = .failure(error) }
                try FileManager.default.removeItem(atPath: directory.path("hold"))
                _ = try await holder.end()
                try outcome.get()
            }
        }
    }

    func set(_ offset: String) throws {
        try directory.write("\(offset)\n", to: "next")
        chmod(directory.path("next"), 0o644)
        rename(directory.path("next"), directory.path("offset"))
    }

    /// Runs the body with further variables, which the processes that it starts inherit.
    func withEnvironment(_ variables: [String: String], _ body: () async throws -> Void) async throws {
        for (name, value) in variables { setenv(name, value, 1) }
        defer { variables.keys.forEach { unsetenv($0) } }
        try await body()
    }
}
