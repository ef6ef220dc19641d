import Foundation
import GatehouseTesting
import class Postgres.Database
import Testing

@testable import GatehouseServer

@Suite struct PrivateClusterTests {
    private func newDirectory(_ suffix: String = "") -> String {
        "/tmp/gatehouse-" + String(UInt64.random(in: .min ... .max), radix: 36) + suffix
    }

    private func isServing(_ url: String) -> Bool {
        (try? Database.runAlone("SELECT 1", url: url)) != nil
    }

    @Test func dataSurvivesAStopAndTheSecondStartIsQuick() async throws {
        let directory = newDirectory()
        let first = PrivateCluster(directory: directory)
        try await first.start()
        try await first.createDatabase("odd \"name\"")
        await first.stop()
        #expect(!isServing(first.url))

        let second = PrivateCluster(directory: directory)
        let start = ContinuousClock.now
        try await second.start()
        #expect(ContinuousClock.now - start < .seconds(10))
        #expect(isServing(second.url(database: "odd \"name\"")))
        await second.stop()
        try FileManager.default.removeItem(atPath: directory)
    }

    @Test func anEphemeralClusterLeavesNothing() async throws {
        let cluster = TemporaryPostgres.cluster()
        try await cluster.start()
        await cluster.stop()
        #expect(!FileManager.default.fileExists(atPath: String(cluster.url.split(separator: "=")[1])))
    }

    @Test func aPathTooLongForASocketIsWorkedAround() async throws {
        let root = newDirectory()
        let cluster = PrivateCluster(directory: root + "/" + String(repeating: "long/", count: 20) + "path")
        try await cluster.start()
        #expect(isServing(cluster.url))
        await cluster.stop()
        try FileManager.default.removeItem(atPath: root)
    }

    @Test func aStalePIDFileOfAProcessThatLivesDoesNotStopTheStart() async throws {
        let directory = newDirectory()
        let cluster = PrivateCluster(directory: directory)
        try await cluster.start()
        await cluster.crash()
        let file = directory + "/data/postmaster.pid"
        let stale = try String(contentsOfFile: file, encoding: .utf8)
        let lines = stale.split(separator: "\n", omittingEmptySubsequences: false)
        // As in a restarted container, where another process has got the old server's process id.
        let reused = ["1"] + lines.dropFirst()
        try reused.joined(separator: "\n").write(toFile: file, atomically: false, encoding: .utf8)
        try await cluster.start()
        #expect(isServing(cluster.url))
        await cluster.stop()
        try FileManager.default.removeItem(atPath: directory)
    }

    @Test func aDirectoryInUseIsRefusedOnOneLine() async throws {
        let directory = newDirectory()
        let cluster = PrivateCluster(directory: directory)
        try await cluster.start()
        let error = await #expect(throws: ServerError.self) { try await PrivateCluster(directory: directory).start() }
        #expect(error?.description.contains("is using \(directory)/data") == true)
        #expect(isServing(cluster.url))
        await cluster.stop()
        try FileManager.default.removeItem(atPath: directory)
    }

    /// The supervisor stops the server when this stream ends, so no other process may inherit it.
    @Test func anotherChildOfThisProcessDoesNotHoldTheServer() async throws {
        let cluster = TemporaryPostgres.cluster()
        try await cluster.start()
        let child = try ChildProcess(["/bin/sleep", "60"], output: STDERR_FILENO)
        let start = ContinuousClock.now
        await cluster.stop()
        #expect(ContinuousClock.now - start < .seconds(10))
        #expect(child.isRunning)
        child.killGroup()
    }

    @Test func aWrongSettingIsReportedOnOneLine() async throws {
        var options = PrivateCluster.Options()
        options.ephemeral = true
        options.durable = false
        options.settings = ["work_mem": "plenty"]
        let directory = newDirectory()
        let error = await #expect(throws: ServerError.self) {
            try await PrivateCluster(directory: directory, options: options).start()
        }
        #expect(error?.description.contains("invalid value for parameter \"work_mem\"") == true)
        try FileManager.default.removeItem(atPath: directory)
    }
}
