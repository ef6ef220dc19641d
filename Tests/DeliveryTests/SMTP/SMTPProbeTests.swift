import Foundation
import GatehouseTesting
import ProviderKit
import Testing

@testable import Delivery

/// Connecting to a relay and signing in, without a mail.
@Suite(.timeLimit(.minutes(1)))
struct SMTPProbeTests {
    private func state(
        of sink: SMTPSink, login: String = "", total: Duration = .seconds(10)
    ) async throws -> MailRelayState {
        let server = try SMTPServer(url: "smtp://\(login)127.0.0.1:\(sink.port)?starttls=off")
        return await SMTPTransport(server, deadlines: .init(connect: total, total: total)).probe()
    }

    private static let offersLogin = SMTPSink.Reaction.reply("250-sink.example\r\n250 AUTH PLAIN")

    @Test func `a relay without a login`() async throws {
        let sink = try SMTPSink()
        defer { sink.close() }
        #expect(try await state(of: sink) == .ready(hasLogin: false))
        #expect(!sink.log.value.commands.contains { $0.hasPrefix("MAIL") || $0.hasPrefix("AUTH") })
        #expect(sink.taken.isEmpty)
    }

    @Test(arguments: [("235 fine", MailRelayState.ready(hasLogin: true)), ("535 no", .loginRefused)])
    func `a login is tried`(reply: String, expected: MailRelayState) async throws {
        let sink = try SMTPSink { command in
            if command.hasPrefix("EHLO") { return Self.offersLogin }
            // The credentials follow the reply 334 (RFC 4954, 4); they are `ada` and `secret` in base64.
            if command.hasPrefix("AUTH") { return .reply("334 ") }
            return command == "AGFkYQBzZWNyZXQ=" ? .reply(reply) : nil
        }
        defer { sink.close() }
        #expect(try await state(of: sink, login: "ada:secret@") == expected)
        #expect(!sink.log.value.commands.contains { $0.hasPrefix("MAIL") })
    }

    @Test func `a relay that offers no login`() async throws {
        let sink = try SMTPSink()
        defer { sink.close() }
        #expect(try await state(of: sink, login: "ada:secret@") == .loginNotOffered)
    }

    @Test func `a relay that hangs or is not there`() async throws {
        let sink = try SMTPSink { $0 == "CONNECT" ? .hang : nil }
        #expect(try await state(of: sink, total: .milliseconds(300)) == .failed(.upstreamTimeout))
        sink.close()
        #expect(try await state(of: sink) == .failed(.upstreamUnreachable))
    }
}
