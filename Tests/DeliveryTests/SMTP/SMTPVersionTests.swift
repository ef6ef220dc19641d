import Foundation
import ProviderKit
import Testing

@testable import Delivery

/// Tests that mail is sent over TLS 1.2 or newer.
@Suite(.timeLimit(.minutes(1)))
struct SMTPVersionTests {
    /// With TLS 1.2 the handshake succeeds; the relay then sends nothing, so that the attempt ends at the deadline.
    @Test(arguments: [("-tls1_1", Obstacle.tls), ("-tls1_2", .timeout)])
    func anOlderVersionIsRefused(version: String, obstacle: Obstacle) async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "relay-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let certificate = directory.appending(path: "cert.pem").path
        let key = directory.appending(path: "key.pem").path
        let making = try openssl(
            ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
                + ["-subj", "/CN=relay", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate])
        making.process.waitUntilExit()

        let relay = try openssl(
            ["s_server", "-accept", "127.0.0.1:0", "-cert", certificate, "-key", key, version]
                + ["-cipher", "ALL:@SECLEVEL=0"])
        defer { relay.process.terminate() }
        let port = try #require(relay.port)
        let transport = SMTPTransport(
            try SMTPServer(url: "smtps://127.0.0.1:\(port)"), authorities: certificate,
            deadlines: .init(connect: .seconds(2), total: .seconds(2)))
        let mail = try Samples.mail()
        await #expect(throws: DeliveryError.unreachable(obstacle)) { try await transport.send(mail) }
    }

    private struct Running {
        let process: Process
        /// Kept open, because `openssl s_server` exits at the end of its input.
        let input: Pipe
        let output: Pipe

        /// The port in the line `ACCEPT 127.0.0.1:PORT` of the output.
        var port: Int? {
            var text = ""
            while true {
                let part = output.fileHandleForReading.availableData
                guard !part.isEmpty else { return nil }
                text += String(decoding: part, as: UTF8.self)
                if let line = text.firstMatch(of: /ACCEPT \S+:([0-9]+)\n/) { return Int(line.output.1) }
            }
        }
    }

    private func openssl(_ arguments: [String]) throws -> Running {
        let running = Running(process: Process(), input: Pipe(), output: Pipe())
        running.process.executableURL = URL(filePath: "/usr/bin/env")
        running.process.arguments = ["openssl"] + arguments
        running.process.standardInput = running.input
        running.process.standardOutput = running.output
        running.process.standardError = FileHandle.nullDevice
        try running.process.run()
        return running
    }
}
