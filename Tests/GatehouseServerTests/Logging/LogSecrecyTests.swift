import Accounts
import Delivery
import Foundation
import GatehouseTesting
import Logging
import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// Even at the most verbose level no log line contains a code, a token or an address.
struct LogSecrecyTests {
    /// Puts each message into the inbox, where the test reads it, and then sends it to a relay or gateway that refuses
    /// it.
    private struct Refused: MessageTransport, TextTransport {
        let inbox: DevelopmentInbox
        let relay: SMTPTransport
        let gateway: GatewayTransport

        func send(_ mail: Mail) async throws {
            await inbox.send(mail)
            try await relay.send(mail)
        }

        func send(_ message: TextMessage) async throws {
            await inbox.send(message)
            try await gateway.send(message)
        }
    }

    @Test func `no log line of a complete run contains a secret or an address`() async throws {
        let output = CollectedOutput()
        let logger = Logger(label: "test") { LineLogHandler(.json, label: $0, level: .trace, output: output) }
        // The relay and the gateway repeat the refused values in their replies.
        let sink = try SMTPSink { event in event.hasPrefix("RCPT") ? .reply("550 \(event) is nobody") : nil }
        defer { sink.close() }
        let told: [String] = try await UpstreamServer.with { upstream in
            upstream.service.answer(upstream.url + "/sms") { _ in
                .json(["error": "no +33612345678 here"], status: 500)
            }
            return try await TestServer.with(
                application: RedirectFlowTests.application,
                providers: "scripted: {}\nphone: { allowedCountries: [FR] }", logger: logger
            ) { server in
                let refused = Refused(
                    inbox: server.inbox,
                    relay: SMTPTransport(
                        try SMTPServer(url: "smtp://user%40relay:sinksecret@127.0.0.1:\(sink.port)?starttls=off")),
                    gateway: GatewayTransport(
                        try SMSGateway(
                            url: upstream.url.replacing("//", with: "//key:gatewaysecret@") + "/sms?k=pathsecret",
                            form: .json), by: server.backend.posting))
                let delivery = server.server.delivery
                delivery.replace(
                    email: EmailDelivery(from: try Mailbox("no-reply@demo.example"), transport: refused),
                    sms: SMSDelivery(transport: refused), composer: delivery.composer)
                var story = Story(server: server)
                story.secrets += ["sinksecret", "gatewaysecret", "pathsecret"]
                try await story.tell()
                try await eventually("what was refused is told of") {
                    output.lines.contains { $0.contains("Message given up") && $0.contains("\"email\"") }
                        && output.lines.contains { $0.contains("Message not sent yet") && $0.contains("\"sms\"") }
                }
                return story.secrets
            }
        }
        let lines = output.lines
        #expect(lines.count > 30, "nothing was told")
        for event in ["Request", "Message given up", "Message not sent yet"] {
            #expect(lines.contains { $0.contains("\"message\":\"\(event)\"") }, "\(event)")
        }
        #expect(told.count > 30)
        let haystacks = lines.map { (line: $0, lower: $0.lowercased()) }
        for secret in Set(told) {
            for form in forms(of: secret) {
                let found = haystacks.first { isTold(form, in: $0.lower) }
                #expect(found == nil, "\(secret) as \(form) in \(found?.line ?? "")")
            }
        }
    }

    /// Returns the secret as it is, percent-encoded, and in both alphabets of base64, in lower case.
    private func forms(of secret: String) -> Set<String> {
        let base64 = Data(secret.utf8).base64EncodedString().replacing("=", with: "")
        let plain = CharacterSet(charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~")
        let encoded = secret.addingPercentEncoding(withAllowedCharacters: plain) ?? secret
        let urlSafe = base64.replacing("+", with: "-").replacing("/", with: "_")
        return Set([secret, encoded, base64, urlSafe].map { $0.lowercased() })
    }

    /// Whether a line contains the secret; six digits only count if they are not part of a longer number or word.
    private func isTold(_ form: String, in line: String) -> Bool {
        guard form.count == 6, form.allSatisfy(\.isNumber) else { return line.contains(form) }
        return line.ranges(of: form).contains { range in
            let before = line[..<range.lowerBound].last
            let after = line[range.upperBound...].first
            return ![before, after].contains { $0.map { $0.isLetter || $0.isNumber || $0 == "." } ?? false }
        }
    }
}

/// Uses every feature once and collects all personal data and secrets that occur.
private struct Story {
    let server: TestServer
    let client: APIClient
    var secrets: [String] = []

    init(server: TestServer) {
        self.server = server
        client = APIClient(server)
    }

    mutating func tell() async throws {
        let person = try await registration()
        try await logins(person)
        try await code("email", field: "email", target: APIClient.newAddress())
        try await code("phone", field: "phone", target: "+33612345678")
        try await reset(person)
        try await redirect()
        try await malformed(person)
        try await deletion(person)
    }

    private mutating func note(_ texts: String?...) {
        secrets += texts.compactMap(\.self).filter { !$0.isEmpty }
    }

    private mutating func note(session answer: APIClient.Answer) {
        note(answer["accessToken"].string, answer["refreshToken"].string)
        note(answer["accessToken"].string?.split(separator: ".").last.map(String.init))
    }

    private mutating func registration() async throws -> Person {
        let email = APIClient.newAddress()
        note(
            email, String(email.prefix { $0 != "@" }), APIClient.password, APIClient.otherPassword,
            APIClient.thirdPassword)
        let token = try await client.pend(at: server, email)
        note(token)
        #expect(try await client.login(email).code == "UNVERIFIED_IDENTITY")
        let verified = try await client.verify(token)
        note(session: verified)
        expectError(try await client.verify(token), 401, "INVALID_TOKEN")
        _ = try await client.post("/auth/register", ["email": .string(email), "password": .string(APIClient.password)])
        return try Person(verified, email: email, password: APIClient.password)
    }

    private mutating func logins(_ person: Person) async throws {
        #expect(try await client.login(person.email, "a wrong battery staple").status == 401)
        let login = try await client.login(person.email)
        note("a wrong battery staple")
        note(session: login)
        let refreshed = try await client.refresh(login["refreshToken"].string ?? "")
        #expect(refreshed.status == 200)
        note(session: refreshed)
        #expect(try await client.refresh(person.accessToken).status == 401)
        #expect(try await client.get("/auth/me", bearer: refreshed["accessToken"].string).status == 200)
        #expect(try await client.get("/auth/me", bearer: "not.a.token").status == 401)
    }

    private mutating func code(_ channel: String, field: String, target: String) async throws {
        let asked = try await client.post("/auth/\(channel)/otp", [field: .string(target)])
        #expect(asked.status == 202, "\(asked.text)")
        let message = try #require(try await client.mails(to: target, at: server, count: 1).first)
        let code = message.text.firstMatch(of: /\b[0-9]{6}\b/).map { String($0.output) }
        note(target, code, channel == "email" ? try await client.mailedToken(to: target, at: server) : nil)
        for answer in ["000000", code ?? ""] {
            let body: JSONValue = ["challengeId": asked["challengeId"], "code": .string(answer)]
            note(session: try await client.post("/auth/\(channel)/otp/verify", body))
        }
        #expect(try await client.post("/auth/\(channel)/otp", [field: .string("no \(target)")]).status == 400)
    }

    private mutating func reset(_ person: Person) async throws {
        let unknown = APIClient.newAddress()
        note(unknown)
        #expect(try await client.post("/auth/forgot-password", ["email": .string(unknown)]).status == 202)
        let token = try await client.forget(at: server, person.email)
        note(token)
        #expect(try await client.send(.GET, "/reset-password?token=\(token)").status == 303)
        #expect(try await client.send(.GET, "/api/v1/\(token)").status == 404)
        #expect(try await client.send(.GET, "/api/v1/auth/me?token=\(token)").status == 401)
        #expect(try await client.reset(token, to: APIClient.otherPassword).status == 204)
        for _ in 0..<10 { _ = try await client.login(unknown) }
    }

    private mutating func redirect() async throws {
        let web = RedirectClient(api: client)
        let email = APIClient.newAddress()
        let evidence = VerifiedIdentity.somebody(email: email)
        let flow = try await web.begin(["state": "the app's own state"])
        let arrival = try await web.arrive(flow, with: evidence)
        let signedIn = try await web.redeem(arrival.query("code"), state: "the app's own state")
        #expect(signedIn.status == 200, "\(signedIn.text)")
        note(email, evidence.providerUid, flow.state, flow.url.query("nonce"), web.verifier, arrival.query("code"))
        note(session: signedIn)
        // What an app passes to the provider may be a person's number; refused, it is not logged either.
        for (name, status) in [("login_hint", 200), ("msisdn", 400)] {
            let hint = "MSISDN:33698765\(status)"
            let answer = try await web.post(["parameters": [name: .string(hint)]])
            #expect(answer.status == status, "\(answer.text)")
            note(hint, String(hint.suffix(11)))
        }
        // The provider's error text and an unknown state are not logged.
        let failing = try await web.begin()
        note(failing.state)
        for error in ["access_denied", "no \(email)", email] {
            _ = try await web.callback(failing, ["error": error, "error_description": "no \(email)"])
        }
        _ = try await web.callback(flow, ["code": email])
    }

    private mutating func malformed(_ person: Person) async throws {
        let bodies = [
            #"{"email": "\#(person.email)", "password": "#, #"{"email": ["\#(person.email)"], "password": 5}"#,
            #""\#(person.email)""#, #"{"token": {"\#(person.refreshToken)": 1}}"#,
        ]
        for path in ["/auth/login", "/auth/register", "/auth/verify-email", "/auth/refresh", "/auth/email/otp"] {
            for body in bodies {
                let answer = try await client.send(.POST, "/api/v1" + path, raw: Array(body.utf8))
                #expect(answer.status == 400, "\(path) \(answer.text)")
            }
        }
        let headers: HTTPHeaders = [
            "x-request-id": "id of \(person.email)", "x-device-name": person.email, "origin": "https://\(person.email)",
            "user-agent": person.refreshToken, "cookie": "a=\(person.refreshToken)",
        ]
        _ = try await client.post("/auth/login", headers: headers)
        _ = try await client.send(.GET, "/apps/\(person.email)/api/v1/auth/me")
        _ = try await client.get("/auth/oauth/\(person.email)/authorize?redirect_uri=\(person.email)")
    }

    private mutating func deletion(_ person: Person) async throws {
        let login = try await client.login(person.email, APIClient.otherPassword)
        note(session: login)
        let deleted = try await client.delete("/auth/account", bearer: login["accessToken"].string)
        #expect(deleted.status == 204)
        note(deleted.headers.first(name: "location")?.split(separator: "/").last.map(String.init))
        let refused = try await client.login(person.email, APIClient.otherPassword)
        let token = refused["error"]["details"]["restoreToken"].string
        note(token)
        let restored = try await client.post("/auth/account/restore", ["restoreToken": .string(token ?? "")])
        #expect(restored.status == 200)
        note(session: restored)
    }
}
