import Accounts
import Delivery
import Foundation
import GatehouseTesting
import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// The notice of a sign-in with a session bearer on a device that the account has not had before.
struct NewDeviceTests {
    private static let notices: StaticString = "SELECT count(*) FROM outbox WHERE topic = 'newDevice'"

    private static let phone: HTTPHeaders = [
        "deviceModel": "iPhone 14 Pro", "deviceType": "iOS", "user-agent": "Dart/3.5 (dart:io)",
    ]

    private func login(_ app: ImmichApp, _ person: Person, on device: HTTPHeaders) async throws -> String {
        let answer = try await app.login(person.email, headers: device)
        #expect(answer.status == 201, "\(answer.text)")
        return try #require(answer["accessToken"].string)
    }

    @Test func `each device is announced once, whether it is signed in or was`() async throws {
        try await ImmichApp.with { server, app in
            let person = try await app.api.register(at: server)
            let token = try await login(app, person, on: Self.phone)
            #expect(try await server.count(Self.notices) == 1)
            _ = try await login(app, person, on: Self.phone)
            for session in [token, try await login(app, person, on: Self.phone)] {
                #expect(try await app.call(.POST, "/auth/logout", token: session).status == 200)
            }
            _ = try await login(app, person, on: Self.phone)
            #expect(try await server.count(Self.notices) == 1)

            // Neither the same name in another program nor the same program under another name is the same device.
            var others = [Self.phone, Self.phone]
            others[0].replaceOrAdd(name: "user-agent", value: "Dart/3.6 (dart:io)")
            others[1].replaceOrAdd(name: "deviceModel", value: "iPhone 15")
            for (count, device) in zip([2, 3], others) {
                _ = try await login(app, person, on: device)
                #expect(try await server.count(Self.notices) == count)
            }
            // Another account has had none of them.
            _ = try await login(app, try await app.api.register(at: server), on: Self.phone)
            #expect(try await server.count(Self.notices) == 4)
        }
    }

    @Test func `neither a sign-in that renews its tokens nor a refused one is announced`() async throws {
        try await ImmichApp.with { server, app in
            let person = try await app.api.register(at: server)
            #expect(try await app.api.login(person.email).status == 200)
            #expect(try await app.login(person.email, "another password", headers: Self.phone).status == 401)
            #expect(try await server.count(Self.notices) == 0)
            #expect(try await server.count("SELECT count(*) FROM sessions WHERE device_mark IS NOT NULL") == 0)
        }
    }

    @Test func `a sign-in that creates the account is not announced, a new device is, in the owner's language`()
        async throws
    {
        let configuration = TimeTrackerApp.configuration("session: { idle: 10d, lifetime: 30d }")
        try await TestServer.with(application: configuration, providers: "scripted: {}") { server in
            let app = TimeTrackerApp(api: APIClient(server))
            _ = try await app.signIn(.somebody("ada", email: "ada@example.com"))
            _ = try await app.signIn(.somebody("ada", email: "ada@example.com"))
            #expect(try await server.count(Self.notices) == 0)
            // As if the sessions so far had been on another device.
            try await server.execute("UPDATE sessions SET device_mark = NULL")
            try await server.execute("UPDATE accounts SET locale = 'fr'")
            _ = try await app.signIn(.somebody("ada", email: "ada@example.com"))
            _ = try await app.signIn(.somebody("ada", email: "ada@example.com"))
            try await eventually("the notice arrives") {
                server.inbox.messages().contains {
                    $0.to == "ada@example.com" && $0.subject == "Un nouvel appareil à demo"
                }
            }
            #expect(try await server.count(Self.notices) == 1)
        }
    }

    @Test func `the first sign-in to an imported account is announced`() async throws {
        try await ImmichApp.with { server, app in
            let person = try await app.api.register(at: server)
            // As after an import, nobody has signed in.
            try await server.execute("DELETE FROM sessions")
            try await server.execute("UPDATE identities SET last_used_at = NULL")
            _ = try await login(app, person, on: Self.phone)
            #expect(try await server.count(Self.notices) == 1)
        }
    }

    @Test func `twenty sign-ins at once on one new device send one mail, which shows no text of the client's`()
        async throws
    {
        let sink = try SMTPSink()
        defer { sink.close() }
        try await ImmichApp.with { server, app in
            let person = try await app.api.register(at: server)
            let delivery = server.server.delivery
            delivery.replace(
                email: EmailDelivery(
                    from: try Mailbox("no-reply@demo.example"),
                    transport: SMTPTransport(try SMTPServer(url: "smtp://127.0.0.1:\(sink.port)"))),
                sms: delivery.sms, composer: delivery.composer)
            let device: HTTPHeaders = ["deviceModel": "Call 0800 4711 now", "deviceType": "iPhone"]
            let answers = try await atOnce(20) { try await app.login(person.email, headers: device) }
            #expect(answers.allSatisfy { $0.status == 201 }, "\(answers.map(\.status))")
            #expect(Set(answers.compactMap { $0["accessToken"].string }).count == 20)
            try await eventually("the mail arrives") { !sink.taken.isEmpty }
            #expect(try await server.count(Self.notices) == 1)
            let mail = try #require(sink.taken.first)
            #expect(sink.taken.count == 1 && mail.recipient == person.email)
            #expect(mail.field("subject") == "A new device at demo")
            #expect(mail.content.contains("- iPhone\r\n- 127.0.0.1\r\n"), "\(mail.content)")
            #expect(!mail.content.contains("0800 4711") && !mail.content.contains("Call"))
        }
    }
}
