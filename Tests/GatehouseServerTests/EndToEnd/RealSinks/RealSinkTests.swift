import Accounts
import Delivery
import Foundation
import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// Mails and text messages sent over real sockets to third-party programs.
@Suite struct RealSinkTests {
    private func with(
        login: String = PythonSinks.login, trusting: Bool = true,
        _ body: @Sendable @escaping (TestServer, APIClient, PythonSinks) async throws -> Void
    ) async throws {
        try await PythonSinks.with { sinks in
            try await TestServer.with(providers: "phone: { allowedCountries: [FR] }") { server in
                var url = URLComponents()
                (url.scheme, url.host, url.port) = ("smtp", "127.0.0.1", sinks.mailPort)
                (url.user, url.password, url.query) = (login, PythonSinks.password, "starttls=required")
                let relay = SMTPTransport(
                    try SMTPServer(url: try #require(url.string)), authorities: trusting ? sinks.authority : nil)
                let gateway = GatewayTransport(
                    try SMSGateway(url: "http://127.0.0.1:\(sinks.textPort)/sms", form: .json),
                    by: server.backend.posting)
                server.server.delivery.replace(
                    email: EmailDelivery(from: try Mailbox("Démo <no-reply@demo.example>"), transport: relay),
                    sms: SMSDelivery(transport: gateway), composer: server.server.delivery.composer)
                try await body(server, APIClient(server), sinks)
            }
        }
    }

    @Test func `a mailed code arrives by TLS and login, alone on its line, and signs in`() async throws {
        try await with { server, client, sinks in
            let email = APIClient.newAddress()
            let asked = try await client.post(
                "/auth/email/otp", ["email": .string(email)], headers: ["accept-language": "fr"])
            let mail = try await sinks.message(to: email)
            #expect(mail["tls"] == true && mail["login"].string == PythonSinks.login, "\(mail)")
            #expect(mail["recipients"] == 1 && mail["from"] == "no-reply@demo.example")
            #expect(mail["headerTo"].string == email && mail["headerFrom"] == "Démo <no-reply@demo.example>")
            #expect(mail["id"].string?.isEmpty == false && mail["date"].string?.isEmpty == false)
            #expect(mail["defects"] == .array([]) && mail["type"] == "multipart/alternative")
            let parts = try #require(mail["parts"].array)
            #expect(parts.map { $0["type"].string } == ["text/plain", "text/html"])
            let text = try #require(parts.first?["text"].string)
            let code = try #require(text.code, "\(text)")
            #expect(parts.last?["text"].string?.contains(code) == true)
            #expect(text.contains("Bonjour") && text.contains("à"), "in French: \(text)")
            let answer = try await client.post(
                "/auth/email/otp/verify", ["challengeId": asked["challengeId"], "code": .string(code)])
            #expect(answer.status == 200, "\(answer.text)")
            try await eventually("it is marked") {
                try await server.count("SELECT count(*) FROM outbox WHERE sent_at IS NOT NULL") == 1
            }
        }
    }

    @Test func `a mailed link opens the account`() async throws {
        try await with { _, client, sinks in
            let email = APIClient.newAddress()
            let body: JSONValue = ["email": .string(email), "password": .string(APIClient.password)]
            #expect(try await client.post("/auth/register", body).status == 201)
            let parts = try #require(try await sinks.message(to: email)["parts"].array)
            let tokens = parts.compactMap { part in
                part["text"].string?.firstMatch(of: /token=([A-Za-z0-9_-]+)/).map { String($0.output.1) }
            }
            #expect(tokens.count == 2 && Set(tokens).count == 1)
            #expect(try await client.verify(try #require(tokens.first)).status == 200)
        }
    }

    @Test func `a texted code arrives as its only run of digits, and signs in`() async throws {
        try await with { _, client, sinks in
            let asked = try await client.post("/auth/phone/otp", ["phone": "+33612345678"])
            let message = try await sinks.message(to: "+33612345678")
            #expect(message["path"] == "/sms" && message["type"] == "application/json", "\(message)")
            #expect(message.keys.isSuperset(of: ["id", "to", "text"]))
            let digits = (message["text"].string ?? "").matches(of: /[0-9]+/).map { String($0.output) }
            #expect(digits.count == 1 && digits.first?.count == 6, "\(message)")
            let answer = try await client.post(
                "/auth/phone/otp/verify", ["challengeId": asked["challengeId"], "code": .string(digits.first ?? "")])
            #expect(answer.status == 200, "\(answer.text)")
        }
    }

    @Test(arguments: [(PythonSinks.login, false), ("somebody else", true)])
    func `nothing is sent to a server without a trusted certificate, or that refuses the login`(
        login: String, trusting: Bool
    ) async throws {
        try await with(login: login, trusting: trusting) { server, client, sinks in
            _ = try await client.post("/auth/email/otp", ["email": .string(APIClient.newAddress())])
            try await eventually("it fails") { server.server.worker.statistics.failed > 0 }
            #expect(try sinks.taken().isEmpty)
            #expect(
                try await server.count("SELECT count(*) FROM outbox WHERE sent_at IS NULL AND failed_at IS NULL") == 1)
        }
    }
}
