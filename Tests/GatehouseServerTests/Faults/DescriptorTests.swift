import Foundation
import Glibc
import NIOHTTP1
import Testing

@testable import GatehouseServer

/// More clients connect than the server has file descriptors.
@Suite(.serialized) struct DescriptorTests {
    private static let limit = 96

    @Test func `clients beyond the limit of file descriptors wait, and others are served`() async throws {
        try await FaultServers.with { servers in
            try await servers.second.end(by: SIGTERM)
            try await servers.second.start(prefix: ["prlimit", "--nofile=\(Self.limit)"])
            let load = servers.load(excusing: .silence)
            try await load.run {
                let port = try #require(UInt16(servers.second.client.url.split(separator: ":").last ?? ""))
                let connections = (1...Self.limit * 2).map { _ in Self.connect(to: port) }
                defer { connections.forEach { close($0) } }
                // The connections that were open before are still served, and some descriptors stay free.
                try await load.awaitProgress()
                let process = try #require(servers.second.process)
                #expect(try Self.descriptors(of: process.id) < Self.limit - 10)
            }
            try await servers.verify(load.journal.entries)
        }
    }

    @Test func `clients leave descriptors for cores, webhooks and the database`() {
        func clients(cores: Int, webhooks: Int, limit: Int = 1024) -> Int {
            FileDescriptors.clients(besides: 20, webhooks: webhooks, cores: cores, limit: limit)
        }
        #expect(clients(cores: 2, webhooks: 0) == 1024 - 64 - 8 - 20)
        #expect(clients(cores: 64, webhooks: 0) == 1024 - 64 - 256 - 20)
        #expect(clients(cores: 2, webhooks: 50) == 1024 - 64 - 8 - 200 - 20)
        #expect(clients(cores: 64, webhooks: 200) == 16)
        #expect(clients(cores: 2, webhooks: 0, limit: 96) == 16)
        #expect(clients(cores: 2, webhooks: 1, limit: .max) == .max - 96)
    }

    private static func descriptors(of process: pid_t) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd").count
    }

    /// Opens a connection that sends nothing.
    private static func connect(to port: UInt16) -> Int32 {
        let socket = Glibc.socket(
            AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = Glibc.connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        return socket
    }
}
