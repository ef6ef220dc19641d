package import Accounts
package import Delivery
internal import Foundation
internal import ProviderKit

extension Configuration {
    package struct Delivery: SettingsSection, Equatable {
        package var email: Email?
        package var sms: SMS?
        /// The administrator's templates.
        package var templates: TemplateOverrides?

        static let settings = [
            Setting("email", .section(Email.self), help: "How mail is sent. The kind `email` needs it."),
            Setting("sms", .section(SMS.self), help: "How text messages are sent. The kind `phone` needs it."),
            Setting(
                "templates", .templates, help: "A directory with templates that replace parts of the built-in messages."
            ),
        ]
    }

    package struct Email: SettingsSection, Equatable {
        package var from: Mailbox
        package var smtp: SMTPServer

        static let settings = [
            Setting(
                "from", .text("an address like `Name <name@domain.example>`", as: Mailbox.self), required: true,
                help: "The sender of all mail."),
            Setting(
                "smtp",
                .secret("a secret: text, or file:PATH") { url in
                    _ = try SMTPServer(url: url)
                    return true
                }, required: true,
                help: """
                    The relay, as in `smtps://user:password@host:465` or `smtp://host:25?starttls=required`. \
                    `starttls` is `required`, `optional` or `off`.
                    """),
        ]
    }

    package struct SMS: SettingsSection, Equatable {
        package enum Kind: String, Sendable, CaseIterable, Decodable {
            /// A POST of `{"id","to","text"}`.
            case json
            /// A POST of the form fields that Twilio expects.
            case twilio
        }

        /// The largest number of text messages sent in each window of time; `nil` is no limit.
        package struct Budget: SettingsSection, Equatable {
            package var total: Rate?
            /// The limit for each group of numbers that share the country code and the next three digits.
            package var perPrefix: Rate?

            static let settings = [
                Setting("total", .rate, default: "1000/d", help: "All text messages."),
                Setting(
                    "perPrefix", .rate, default: "300/h",
                    help: "Text messages to numbers that share country code and the next three digits."),
            ]

            static var shorthand: [(key: String, text: String?)] { [("total", nil)] }
        }

        /// The URL may contain a user and a password.
        package var url: Secret
        package var kind: Kind
        /// The sender's number or name, required for Twilio.
        package var from: String?
        package var budget: Budget

        static let settings = [
            Setting(
                "url", .secret("an absolute http or https URL, or file:PATH") { URLComponents(http: $0) != nil },
                required: true, help: "The SMS gateway, which may hold user and password."),
            Setting(
                "kind", .choice(Kind.allCases), default: "json",
                help: "The body of a request: JSON with `id`, `to` and `text`, or Twilio's form."),
            Setting("from", .text, help: "The sender's number or name. Required if kind is `twilio`."),
            Setting(
                "budget", .section(Budget.self), default: [:],
                help: "How many text messages may be sent. A rate alone is the total."),
        ]

        func validate() throws(SettingsError) {
            guard kind != .twilio || from != nil else {
                throw SettingsError(setting: "from", reason: "is required where kind is twilio")
            }
        }
    }

    package struct Webhook: SettingsSection, Equatable {
        /// The URL identifies a webhook's deliveries, so each webhook needs its own.
        package var url: String
        /// `whsec_` followed by base64 (Standard Webhooks).
        package var secret: Secret
        package var events: Set<AccountEvent.Kind>
        /// The name in the `processors` of an erasure.
        package var name: String

        static let settings = [
            Setting("url", .httpURL, required: true, help: "Where events are posted. Each webhook needs its own URL."),
            Setting(
                "secret",
                .secret("whsec_ and base64, or file:PATH") { text in
                    let key = Data(base64Encoded: String(text.trimmingPrefix("whsec_")))
                    return text.hasPrefix("whsec_") && key?.isEmpty == false
                }, required: true, help: "Signs the requests, as Standard Webhooks defines it."),
            Setting(
                "events", .list(of: .choice(AccountEvent.Kind.allCases)),
                default: ConfigurationNode.Content(AccountEvent.Kind.allCases.map(\.rawValue)),
                help: "The events to post."),
            Setting(
                "name", .text,
                derived: { webhook in
                    let url = webhook["url"]?.text
                    return url.map { .scalar(URLComponents(http: $0)?.host ?? $0) }
                }, help: "The name that an erasure's `processors` show. Default: the host of `url`."),
        ]
    }
}

extension Form {
    /// The path of a directory with templates, which is replaced by a mapping from the templates' paths to their
    /// contents.
    fileprivate static let templates = scalar("the path of a directory") { path, node, reader in
        let directory = reader.absolute(path)
        var isDirectory: ObjCBool = false
        guard !path.isEmpty, FileManager.default.fileExists(atPath: directory, isDirectory: &isDirectory),
            isDirectory.boolValue
        else { return nil }
        let paths = TemplateOverrides.paths { reader.names(inDirectory: "\(path)/\($0)", at: node.place) }
        let entries = try paths.map { template in
            guard let content = reader.content(ofFile: "\(path)/\(template)", at: node.place) else { throw Reported() }
            return ConfigurationNode.Entry(key: template, value: node.with(.scalar(content)))
        }
        let templates = node.with(.table(entries))
        _ = try MessageComposer(overrides: TemplateOverrides(from: SettingsDecoder(templates)))
        return templates
    }
}

extension TemplateOverrides: Decodable {
    package init(from decoder: any Decoder) throws { try self.init(files: [String: String](from: decoder)) }

    /// The paths of all templates in a directory, at most four levels deep.
    ///
    /// `names` lists a subdirectory; the empty path is the directory itself.
    fileprivate static func paths(below prefix: String = "", names: (String) -> [String]) -> [String] {
        names(prefix).flatMap { name in
            let path = prefix.isEmpty ? name : "\(prefix)/\(name)"
            guard leads(path) else { return [String]() }
            return concerns(path) ? [path] : paths(below: path, names: names)
        }
    }
}
