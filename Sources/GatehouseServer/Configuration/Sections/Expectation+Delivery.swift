import Accounts
import Delivery
import Foundation

extension Expectation<Configuration.Delivery> {
    static var delivery: Self {
        .table { table in
            Configuration.Delivery(
                email: table.optional("email", .email),
                sms: table.optional("sms", .sms),
                templates: table.read("templates", .templates, default: .none))
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
        } catch .unusableTemplate(let language, let name) {
            report("\(language)/\(name) is no Mustache template")
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
            let budget = table.read("budget", .budget, default: SMSBudget())
            if kind == .twilio, !table.has("from") {
                table.report("is required where kind is twilio", at: "from")
            }
            return url.map {
                Configuration.SMS(
                    url: $0, kind: kind, from: from, budget: budget.total, budgetPerPrefix: budget.perPrefix)
            }
        }
    }
}

private struct SMSBudget {
    var total: Rate? = Configuration.SMS.standardTotal
    var perPrefix: Rate? = Configuration.SMS.standardPerPrefix
}

extension Expectation<SMSBudget> {
    /// A rate for all messages or `off`, or a mapping with one for each prefix too.
    fileprivate static var budget: Self {
        Self { located in
            guard case .table = located.node.content else {
                return Expectation<Rate?>.rateOrOff.read(located).map { SMSBudget(total: $0) }
            }
            return mapping.read(located)
        }
    }

    private static var mapping: Self {
        .table { table in
            SMSBudget(
                total: table.read("total", .rateOrOff, default: Configuration.SMS.standardTotal),
                perPrefix: table.read("perPrefix", .rateOrOff, default: Configuration.SMS.standardPerPrefix))
        }
    }
}

extension Expectation<TemplateOverrides> {
    /// A directory, whose templates are watched as the file itself is.
    fileprivate static var templates: Self {
        Self { located in
            guard let directory = Expectation<String>.directory.read(located) else { return nil }
            var files: [String: String] = [:]
            for path in paths(in: directory) {
                guard let content = located.reading.content(ofFile: "\(directory)/\(path)", at: located.place) else {
                    return nil
                }
                files[path] = content
            }
            return located.judged(files) { files throws(DeliveryError) in
                let overrides = try TemplateOverrides(files: files)
                _ = try MessageComposer(overrides: overrides)
                return overrides
            }
        }
    }

    /// Those that are meant to be templates; none lies deeper than four levels.
    private static func paths(in directory: String, below prefix: String = "") -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "\(directory)/\(prefix)")) ?? []
        return names.sorted().flatMap { name in
            let path = prefix.isEmpty ? name : "\(prefix)/\(name)"
            guard TemplateOverrides.leads(path) else { return [String]() }
            guard TemplateOverrides.concerns(path) else { return paths(in: directory, below: path) }
            return [path]
        }
    }
}

extension Expectation<[Configuration.Webhook]> {
    /// Their deliveries are known by the URL, so that no two have the same.
    static var webhooks: Self {
        Self { located in
            let one = Expectation<Configuration.Webhook>.webhook
            guard let hooks = Expectation<[Placed<Configuration.Webhook>]>.list(of: one.placed).read(located)
            else { return nil }
            var urls: Set<String> = []
            for hook in hooks where !urls.insert(hook.value.url).inserted {
                let place = hook.located.place
                located.reading.report("is the URL of another webhook too", at: place.key("url", line: place.line))
            }
            return hooks.map(\.value)
        }
    }
}

extension Expectation<Configuration.Webhook> {
    fileprivate static var webhook: Self {
        .table { table in
            let url = table.required("url", .httpURL)
            let secret = table.required("secret", .webhookSecret)
            let all = AccountEvent.Kind.allCases
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
