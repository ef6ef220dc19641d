import Delivery
import Foundation

extension Expectation<Configuration.Delivery> {
    static var delivery: Self {
        .table { table in
            Configuration.Delivery(
                email: table.optional("email", .email),
                sms: table.optional("sms", .sms),
                templates: table.optional("templates", .directory))
        }
    }
}

extension Expectation<Configuration.Email> {
    fileprivate static var email: Self {
        .table { table in
            let from = table.required("from", .mailbox)
            let smtp = table.required("smtp", .smtpServer)
            guard let from, let smtp else { return nil }
            return Configuration.Email(from: from, smtp: smtp)
        }
    }
}

extension Expectation<Mailbox> {
    fileprivate static var mailbox: Self {
        Self { located in
            located.judged(Expectation<String>.text.read(located)) { text throws(DeliveryError) in try Mailbox(text) }
        }
    }
}

extension Expectation<SMTPServer> {
    fileprivate static var smtpServer: Self {
        Self { located in
            let url = Expectation<Secret>.secret.read(located)
            return located.judged(url) { url throws(DeliveryError) in try SMTPServer(url: url.value) }
        }
    }
}

extension Located {
    /// What delivery makes of the value, or its own reason for refusing it.
    fileprivate func judged<Typed, Value>(
        _ value: Typed?, _ make: (Typed) throws(DeliveryError) -> Value
    ) -> Value? {
        guard let value else { return nil }
        do {
            return try make(value)
        } catch .invalidSetting(_, let reason) {
            report(reason)
        } catch {
            report("is not usable")
        }
        return nil
    }
}

extension Expectation<Configuration.SMS> {
    fileprivate static var sms: Self {
        .table { table in
            let url = table.required("url", .secretURL)
            let kind: Configuration.SMS.Kind = table.read("kind", .choice, default: .json)
            let from = table.optional("from", .text)
            let budget = table.optional("budget", .rate)
            if kind == .twilio, !table.has("from") {
                table.report("is required where kind is twilio", at: "from")
            }
            return url.map { Configuration.SMS(url: $0, kind: kind, from: from, budget: budget) }
        }
    }
}

extension Expectation<Configuration.Webhook> {
    static var webhook: Self {
        .table { table in
            let url = table.required("url", .httpURL)
            let secret = table.required("secret", .webhookSecret)
            let all = Configuration.Webhook.Event.allCases
            let events = table.read("events", .list(of: .choice), default: all)
            let name = table.optional("name", .text)
            guard let url, let secret else { return nil }
            return Configuration.Webhook(
                name: name ?? URLComponents(http: url)?.host ?? url, url: url, secret: secret, events: Set(events))
        }
    }
}

extension Expectation<Secret> {
    /// Gateways take their credentials in the URL.
    fileprivate static var secretURL: Self {
        .secret("an absolute http or https URL, or file:PATH", where: { URLComponents(http: $0) != nil })
    }

    /// The form that Standard Webhooks gives it.
    fileprivate static var webhookSecret: Self {
        .secret(
            "whsec_ and base64, or file:PATH",
            where: { text in
                let key = Data(base64Encoded: String(text.trimmingPrefix("whsec_")))
                return text.hasPrefix("whsec_") && key?.isEmpty == false
            })
    }
}

extension Expectation<String> {
    fileprivate static var directory: Self {
        Self { located in
            guard let path = Self.path.read(located) else { return nil }
            var isDirectory: ObjCBool = false
            guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory), isDirectory.boolValue else {
                located.report(expected: "the path of a directory")
                return nil
            }
            return path
        }
    }
}
