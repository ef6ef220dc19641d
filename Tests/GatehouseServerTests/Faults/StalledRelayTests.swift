import Accounts
import Delivery
import Foundation
import GatehouseTesting
import Migrations
import NIOHTTP1
import Passwords
import ProviderKit
import Testing

@testable import GatehouseServer

/// A mail relay that accepts connections but sends nothing delays only mails.
@Suite(.serialized) struct StalledRelayTests {
    private static let signIns = 200
    private static let mails = 100
    /// Other tests on the machine may slow down either server in one round; a stalled relay that has an effect would
    /// slow down the same server in every round.
    private static let rounds = 4

    @Test func `a relay that stalls leaves sign-ins as quick as they were`() async throws {
        let sink = try SMTPSink { $0 == "CONNECT" ? .hang : nil }
        defer { sink.close() }
        try await TestServer.with { calm in
            let url = try await TemporaryPostgres.database(migrations: Migrations.all)
            try await TestServer.with(database: url, providers: "phone: { allowedCountries: [FR] }") { stalled in
                let clients = (calm: APIClient(calm), stalled: APIClient(stalled))
                let people = (
                    calm: try await clients.calm.register(at: calm),
                    stalled: try await clients.stalled.register(at: stalled)
                )
                try stall(stalled, at: sink)
                for _ in 0..<Self.mails { try await ask(clients.stalled) }
                try await eventually("all the worker's places wait for the relay") { sink.hanging == 8 }

                var ratios: [Double] = []
                for _ in 0..<Self.rounds where ratios.allSatisfy({ $0 > 3 }) {
                    var times = (calm: [Duration](), stalled: [Duration]())
                    for number in 0..<Self.signIns {
                        times.calm.append(try await time { try await clients.calm.login(people.calm.email) })
                        times.stalled.append(try await time { try await clients.stalled.login(people.stalled.email) })
                        if number.isMultiple(of: 20) {
                            try await ask(clients.calm)
                            try await ask(clients.stalled)
                        }
                    }
                    ratios.append(times.stalled.p99 / times.calm.p99)
                }
                print("p99 of sign-ins while the relay stalls, as a multiple of it without: \(ratios)")
                #expect(ratios.contains { $0 <= 3 }, "\(ratios)")
                #expect(sink.hanging > 0 && sink.taken.isEmpty, "it has stalled all the time")
                try await expectNothingIsUsedUp(at: stalled, clients.stalled)
            }
        }
    }

    /// Sends mails by SMTP to the sink, with the same deadlines as a production server; text messages still go to the
    /// inbox.
    private func stall(_ server: TestServer, at sink: SMTPSink) throws {
        let relay = SMTPTransport(try SMTPServer(url: "smtp://127.0.0.1:\(sink.port)"))
        let delivery = server.server.delivery
        delivery.replace(
            email: EmailDelivery(from: try Mailbox("no-reply@demo.example"), transport: relay), sms: delivery.sms,
            composer: delivery.composer)
    }

    private func ask(_ client: APIClient) async throws {
        let asked = try await client.post("/auth/email/otp", ["email": .string(APIClient.newAddress())])
        try #require(asked.status == 202, "\(asked.text)")
    }

    private func time(_ signIn: () async throws -> APIClient.Answer) async throws -> Duration {
        let start = ContinuousClock.now
        let answer = try await signIn()
        let elapsed = ContinuousClock.now - start
        try #require(answer.status == 200, "\(answer.text)")
        return elapsed
    }

    /// Sends more concurrent requests than any pool has connections.
    private func expectNothingIsUsedUp(at server: TestServer, _ client: APIClient) async throws {
        let answers = try await atOnce(50) {
            try await client.post(
                "/auth/register",
                ["email": .string(APIClient.newAddress()), "password": .string(APIClient.password)])
        }
        #expect(answers.allSatisfy { $0.status == 201 })
        #expect(try await client.send(.GET, "/health/ready").status == 200)
        #expect(server.server.hashing.statistics.queued == 0)
        let asked = try await client.post("/auth/phone/otp", ["phone": "+33612345678"])
        #expect(asked.status == 202)
        try await eventually("a text arrives meanwhile") { server.inbox.messages().contains { $0.kind == .sms } }
    }
}

extension [Duration] {
    /// The 99th percentile of the durations.
    fileprivate var p99: Duration { sorted()[Swift.min(count - 1, count * 99 / 100)] }
}
