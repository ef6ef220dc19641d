import Accounts
import Foundation
import ProviderKit
import Testing

@testable import Delivery

struct WebhookTests {
    private func webhook(
        _ url: String = "https://hooks.example/in", secret: String = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    ) throws -> Webhook {
        try Webhook(name: "hooks", url: url, secret: secret, events: [])
    }

    /// The example in the reference libraries of Standard Webhooks.
    @Test func theSignatureIsStandardWebhooks() throws {
        let signature = try webhook().signature(
            id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: "1614265330",
            body: Array(#"{"test": 2432232314}"#.utf8))
        #expect(signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
    }

    @Test func theBodyIsTheSameAtEachAttemptAndTheSignatureIsNot() throws {
        let delivery = TakenDelivery(
            event: .v7(), webhook: "", application: 1, applicationName: "demo", kind: "account.deleted", uid: .v7(),
            details: ["receipt": "r"], createdAt: Date(timeIntervalSince1970: 1_700_000_000.25), attempts: 0)
        let webhook = try webhook()
        let first = try webhook.request(delivery, at: Date(timeIntervalSince1970: 1_700_000_001.9))
        let body = try #require(first.content)
        let second = try webhook.request(delivery, at: Date(timeIntervalSince1970: 1_700_000_002))
        #expect(body.type == "application/json" && body.bytes == second.content?.bytes)
        let uid = delivery.uid.text
        #expect(
            String(decoding: body.bytes, as: UTF8.self)
                == #"{"data":{"application":"demo","receipt":"r","uid":"\#(uid)"},"#
                + #""timestamp":"2023-11-14T22:13:20.250Z","type":"account.deleted"}"#)
        #expect([first, second].map { $0.headers["webhook-id"] } == [delivery.event.text, delivery.event.text])
        #expect([first, second].map { $0.headers["webhook-timestamp"] } == ["1700000001", "1700000002"])
        #expect(first.headers["webhook-signature"] != second.headers["webhook-signature"])
    }

    @Test(arguments: ["", "whsec_", "whsec_!", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"])
    func onlySecretsInTheirForm(secret: String) {
        #expect(throws: DeliveryError.self) { try webhook(secret: secret) }
    }

    @Test func aDumpShowsNoSecret() throws {
        let webhook = try webhook("https://user:hunter2@hooks.example/hunter2")
        var dump = ""
        Swift.dump(webhook, to: &dump)
        let shown = "\(webhook) \(String(reflecting: webhook)) \(dump)"
        #expect(!shown.contains("hunter2") && !shown.contains("MfKQ"), "\(shown)")
    }

    /// The deliveries that wait must not be given up when the login changes, and the queue is no place for it.
    @Test func aLoginDoesNotIdentifyTheWebhook() throws {
        let settings = ["https://a:b@hooks.example/x", "https://a:c@hooks.example/x"]
        let webhooks = try settings.map { try webhook($0) }
        #expect(webhooks.map(\.url) == Array(repeating: "https://hooks.example/x", count: 2))
        let current = CurrentWebhooks([webhooks[0]])
        // An earlier version announced deliveries with the login.
        #expect(Set(current.urls) == ["https://hooks.example/x", settings[0]])
        #expect(current.urls.allSatisfy { current.webhook(in: $0) != nil })
        #expect(current.webhook(in: settings[1]) == nil)
    }

    /// Retries go on for longer than the 72 hours that an erasure waits for webhooks.
    @Test func retriesGoOnForFourDays() {
        let policy = RetryPolicy.webhooks
        func delay(_ hours: Int, attempts: Int = 1000) -> Duration? {
            policy.delay(
                after: .gatewayDeferred(status: 500), attempts: attempts, age: .seconds(hours * 3600), fraction: 0.999)
        }
        #expect(delay(95).map { $0 > .seconds(3500) && $0 <= .seconds(3600) } == true)
        #expect(delay(96) == nil)
        #expect(delay(0, attempts: 0).map { $0 <= .seconds(5) } == true)
    }
}
