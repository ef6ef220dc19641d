import Foundation
import GatehouseTesting
import Glibc
import Migrations
import Postgres
import Testing

@testable import GatehouseServer

/// PostgreSQL's disk is full: a small tmpfs, which needs the right to mount.
@Suite(.serialized, .longMode) struct FullDiskTests {
    private static let megabytes = 400

    @Test(.enabled("a tmpfs needs the right to mount") { try await canMount() || NeededProgram.isStrict })
    func `a full disk loses nothing, and the server resumes once there is room`() async throws {
        try await withTemporaryFileSystem { path in
            var options = PrivateCluster.Options()
            options.settings = ["max_connections": "100", "shared_buffers": "32MB", "min_wal_size": "32MB"]
            let cluster = PrivateCluster(directory: path + "/cluster", options: options)
            try await cluster.start()
            do {
                try Database.runAlone("CREATE DATABASE faults", url: cluster.url)
                let url = cluster.url(database: "faults")
                try await FaultServers.with(database: url) { servers in
                    let load = servers.load()
                    try await load.run {
                        let ballast = path + "/ballast"
                        try await Self.fill(ballast)
                        try await eventually("calls are refused", within: .seconds(60)) {
                            load.journal.entries.refused > 8
                        }
                        try await Task.sleep(for: .seconds(2))
                        try FileManager.default.removeItem(atPath: ballast)
                        // PostgreSQL ends itself if it can't write its log.
                        await cluster.crash()
                        try await cluster.start()
                    }
                    try await servers.verify(load.journal.entries)
                }
            } catch {
                await cluster.crash()
                throw error
            }
            await cluster.crash()
        }
    }

    /// Writes zeros until the disk is full.
    private static func fill(_ path: String) async throws {
        try await onOwnThread {
            let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
            defer { close(file) }
            let block = [UInt8](repeating: 0, count: 4096)
            while write(file, block, block.count) > 0 {}
        }
    }

    private static func canMount() async throws -> Bool {
        guard geteuid() == 0 else { return false }
        return try await ProcessDirectory.with { directory in
            let status = try await mount(on: directory.url.path, in: directory)
            if status == 0 { _ = try await unmount(directory.url.path, in: directory) }
            return status == 0
        }
    }

    private func withTemporaryFileSystem(_ body: (String) async throws -> Void) async throws {
        try await ProcessDirectory.with { directory in
            let path = directory.path("disk")
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            try #require(try await Self.mount(on: path, in: directory) == 0)
            do { try await body(path) } catch {
                _ = try await Self.unmount(path, in: directory)
                throw error
            }
            _ = try await Self.unmount(path, in: directory)
        }
    }

    private static func mount(on path: String, in directory: ProcessDirectory) async throws -> Int32 {
        try await GatehouseProcess.run(
            ["-t", "tmpfs", "-o", "size=\(megabytes)m,mode=0755", "gatehouse-test", path], program: "mount",
            in: directory
        ).status
    }

    private static func unmount(_ path: String, in directory: ProcessDirectory) async throws -> Int32 {
        try await GatehouseProcess.run(["--lazy", path], program: "umount", in: directory).status
    }
}
