import Accounts
import Foundation
import GatehouseTesting
import ProviderKit
import Testing

@testable import Delivery

@Suite(.timeLimit(.minutes(1)))
struct SMTPTransportTests {
    private func transport(
        to sink: SMTPSink, query: String = "", total: Duration = .seconds(10), threads: Int = 8
    ) throws -> SMTPTransport {
        SMTPTransport(
            try SMTPServer(url: "smtp://127.0.0.1:\(sink.port)\(query)"),
            deadlines: .init(connect: .seconds(5), total: total), threads: BlockingThreads(limit: threads))
    }

    private func failure(of sink: SMTPSink, query: String = "", total: Duration = .seconds(10)) async throws
        -> DeliveryError?
    {
        let transport = try transport(to: sink, query: query, total: total)
        let mail = try Samples.mail()
        return await #expect(throws: DeliveryError.self) { try await transport.send(mail) }
    }

    @Test func handsOverTheMailAsItIs() async throws {
        let sink = try SMTPSink()
        defer { sink.close() }
        let mail = try Samples.mail()
        try await transport(to: sink).send(mail)
        let log = sink.log.value
        #expect(log.commands.contains("MAIL FROM:<no-reply@demo.example>"))
        let recipients = log.commands.filter { $0.hasPrefix("RCPT") }
        #expect(recipients == ["RCPT TO:<ada@mail.example>"])
        #expect(log.taken.map(\.bytes) == [MIMEMessage(mail).bytes])
        #expect(log.commands.last == "QUIT")
    }

    /// The last body is longer than libcurl's buffer, so that dots also occur at the buffer's boundaries.
    @Test(arguments: [(".", 1), (".\n.\n..", 1), ("a\n.\nb", 1), (".hidden\n.\nQUIT", 1), (".line\n", 20_000)])
    func dotsAtLineStartsSurvive(lines: String, times: Int) async throws {
        let sink = try SMTPSink()
        defer { sink.close() }
        let mail = try Samples.mail(text: String(repeating: lines, count: times))
        try await transport(to: sink).send(mail)
        let stuffed = try #require(sink.taken.first?.bytes)
        let content = stuffed.split(separator: 0x0A, omittingEmptySubsequences: false).map { line in
            line.first == UInt8(ascii: ".") ? line.dropFirst() : line
        }.joined(separator: [0x0A])
        #expect(Array(content) == MIMEMessage(mail).bytes)
        #expect(sink.taken.count == 1)
    }

    @Test func anAddressBeyondASCIIAsksForTheExtension() async throws {
        let sink = try SMTPSink()
        defer { sink.close() }
        let mail = try Samples.mail(to: "zoë@mail.example")
        try await transport(to: sink).send(mail)
        let commands = sink.log.value.commands
        #expect(commands.contains("MAIL FROM:<no-reply@demo.example> SMTPUTF8"))
        #expect(commands.contains("RCPT TO:<zoë@mail.example>"))
        #expect(try ParsedMail(#require(sink.taken.first?.bytes))["To"] == "zoë@mail.example")
    }

    /// Replies of a relay, and the errors that they cause.
    @Test(arguments: [
        ("MAIL", "550 no", DeliveryError.refused(code: 550)), ("MAIL", "451 later", .deferred(code: 451)),
        ("MAIL", "530 5.7.0 log in first", .deferred(code: 530)),
        ("RCPT", "550 no such user", .refused(code: 550)), ("RCPT", "450 greylisted", .deferred(code: 450)),
        ("RCPT", "421 closing", .deferred(code: 421)), ("DATA", "554 no", .refused(code: 554)),
        ("DATA", "451 later", .deferred(code: 451)), (".", "554 spam", .refused(code: 554)),
        (".", "552 too big", .refused(code: 552)), (".", "452 full", .deferred(code: 452)),
        ("CONNECT", "554 go away", .deferred(code: 554)), ("CONNECT", "421 busy", .deferred(code: 421)),
    ])
    func aRefusalIsForGoodOnlyWhenItIsAboutTheMail(event: String, reply: String, error: DeliveryError) async throws {
        let sink = try SMTPSink { $0.hasPrefix(event) ? .reply(reply) : nil }
        defer { sink.close() }
        #expect(try await failure(of: sink) == error)
    }

    @Test(arguments: ["CONNECT", "MAIL", "RCPT", "DATA", "."])
    func aLostConnectionIsTransient(event: String) async throws {
        let sink = try SMTPSink { $0.hasPrefix(event) ? .disconnect : nil }
        defer { sink.close() }
        let error = try #require(try await failure(of: sink))
        #expect(error == .unreachable(.disconnected))
        #expect(!error.isPermanent)
    }

    @Test(arguments: ["CONNECT", "RCPT", "."])
    func aHangingRelayIsLeftAtTheDeadline(event: String) async throws {
        let sink = try SMTPSink { $0.hasPrefix(event) ? .hang : nil }
        defer { sink.close() }
        #expect(try await failure(of: sink, total: .milliseconds(300)) == .unreachable(.timeout))
    }

    /// Each reply arrives within the limit for one reply, but all of them together exceed the deadline.
    @Test func aSlowRelayIsLeftAtTheDeadlineToo() async throws {
        let sink = try SMTPSink { _ in .slow(400) }
        defer { sink.close() }
        #expect(try await failure(of: sink, total: .seconds(1)) == .unreachable(.timeout))
    }

    @Test func aRelayThatHangsAfterTakingTheMailHasTakenIt() async throws {
        let sink = try SMTPSink { $0.hasPrefix("QUIT") ? .hang : nil }
        defer { sink.close() }
        let mail = try Samples.mail()
        try await transport(to: sink, total: .seconds(3)).send(mail)
        #expect(sink.taken.count == 1)
    }

    @Test func nobodyListening() async throws {
        let transport = SMTPTransport(try SMTPServer(url: "smtp://127.0.0.1:1"))
        let mail = try Samples.mail()
        await #expect(throws: DeliveryError.unreachable(.connection)) { try await transport.send(mail) }
        let nowhere = SMTPTransport(try SMTPServer(url: "smtp://relay.invalid:25"))
        // Where no name server answers, the deadline ends the look-up.
        let error = await #expect(throws: DeliveryError.self) { try await nowhere.send(mail) }
        #expect(error == .unreachable(.name) || error == .unreachable(.timeout))
    }

    @Test func whereTLSIsRequiredNothingIsSaidWithoutIt() async throws {
        let sink = try SMTPSink()
        defer { sink.close() }
        #expect(try await failure(of: sink, query: "?starttls=required") == .unreachable(.tls))
        #expect(!sink.log.value.commands.contains { $0.hasPrefix("MAIL") })
    }

    @Test func aLoginGoesOnlyOverTLSByDefault() async throws {
        let sink = try SMTPSink { $0.hasPrefix("EHLO") ? .reply("250-sink.example\r\n250 AUTH PLAIN LOGIN") : nil }
        defer { sink.close() }
        let transport = SMTPTransport(try SMTPServer(url: "smtp://u:p@127.0.0.1:\(sink.port)"))
        let mail = try Samples.mail()
        await #expect(throws: DeliveryError.unreachable(.tls)) { try await transport.send(mail) }
        #expect(!sink.log.value.commands.contains { $0.hasPrefix("AUTH") })
    }

    @Test func aRefusedLoginIsNotTheMailsFault() async throws {
        let sink = try SMTPSink { command in
            switch command.prefix(4) {
            case "EHLO": .reply("250-sink.example\r\n250 AUTH PLAIN")
            case "AUTH": .reply("535 wrong")
            default: nil
            }
        }
        defer { sink.close() }
        let transport = SMTPTransport(try SMTPServer(url: "smtp://u:p@127.0.0.1:\(sink.port)?starttls=off"))
        let mail = try Samples.mail()
        await #expect(throws: DeliveryError.deferred(code: 535)) { try await transport.send(mail) }
    }

    @Test func aHangingRecipientDelaysNoOther() async throws {
        let sink = try SMTPSink { $0.hasPrefix("RCPT TO:<slow@") ? .hang : nil }
        defer { sink.close() }
        let transport = try transport(to: sink, total: .seconds(50), threads: 2)
        let slow = try Samples.mail(to: "slow@mail.example")
        let others = try (1...20).map { try Samples.mail(to: "a\($0)@mail.example") }
        let hanging = Task { try await transport.send(slow) }
        await sink.log.wait { $0.commands.contains { $0.hasPrefix("RCPT TO:<slow@") } }
        try await withThrowingDiscardingTaskGroup { group in
            for mail in others {
                group.addTask { try await transport.send(mail) }
            }
        }
        #expect(sink.taken.count == 20)
        hanging.cancel()
        await #expect(throws: CancellationError.self) { try await hanging.value }
    }

    @Test func whatIsCancelledBeforeItsTurnIsNeverSent() async throws {
        let sink = try SMTPSink { $0.hasPrefix("RCPT TO:<slow@") ? .hang : nil }
        defer { sink.close() }
        let transport = try transport(to: sink, total: .seconds(100), threads: 1)
        let slow = try Samples.mail(to: "slow@mail.example")
        let next = try Samples.mail(to: "next@mail.example")
        let hanging = Task { try await transport.send(slow) }
        await sink.log.wait { $0.commands.contains { $0.hasPrefix("RCPT TO:<slow@") } }
        let waiting = Task { try await transport.send(next) }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        hanging.cancel()
        await #expect(throws: CancellationError.self) { try await hanging.value }
        // The only thread sends this mail after the others.
        try await transport.send(try Samples.mail(to: "last@mail.example"))
        let recipients = sink.log.value.commands.filter { $0.hasPrefix("RCPT") }
        #expect(recipients == ["RCPT TO:<slow@mail.example>", "RCPT TO:<last@mail.example>"])
        #expect(sink.log.value.connections == 2)
    }
}
