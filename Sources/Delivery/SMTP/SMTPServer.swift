internal import Foundation

/// The relay that all mail is sent to: `smtp://host:port`, `smtps://user:password@host:465`, `?starttls=required`.
package struct SMTPServer: Sendable, Equatable {
    package enum Security: String, Sendable {
        /// The connection starts with TLS (`smtps`).
        case implicit
        case required
        /// TLS is used if the relay offers it. Without a login the certificate is not checked (RFC 7435), because an
        /// active attacker could also remove the offer.
        case optional
        case off
    }

    package let host: String
    package let port: Int
    package let security: Security
    package let user: String?
    package let password: String?

    /// Parses the URL, whose user and password are percent-encoded.
    ///
    /// `starttls` defaults to `required` if there is a login, and to `optional` otherwise.
    /// - Throws: `DeliveryError.invalidSetting`, which never repeats the URL.
    package init(url text: String, field: String = "delivery.email.smtp") throws(DeliveryError) {
        func refusal(_ reason: String) -> DeliveryError { .invalidSetting(field: field, reason: reason) }
        guard let url = URLComponents(string: text), let host = url.host, !host.isEmpty else {
            throw refusal("is not a URL like `smtp://host:25`; \(Self.encoding)")
        }
        guard ["", "/"].contains(url.path), url.fragment == nil else { throw refusal("has a path; \(Self.encoding)") }
        self.host = host
        user = url.user
        password = url.password
        guard (user == nil) == (password == nil) else { throw refusal("has a user or a password, but not both") }
        guard ![host, user ?? "", password ?? ""].contains(where: Self.hasControl) else {
            throw refusal("has a control character")
        }
        let mode = try Self.startTLS(url.queryItems ?? [], refusal: refusal)
        switch url.scheme?.lowercased() {
        case "smtps" where mode == nil: security = .implicit
        case "smtps": throw refusal("has `starttls`, which `smtps` does not know")
        case "smtp": security = mode ?? (user == nil ? .optional : .required)
        default: throw refusal("is neither `smtp://` nor `smtps://`")
        }
        port = url.port ?? (security == .implicit ? 465 : 25)
        guard (1...65535).contains(port) else { throw refusal("has a port out of range") }
    }

    /// What to do if the URL was cut at a character of the password.
    private static let encoding = "a user or password in it has to be percent-encoded: `/` as %2F, `@` as %40"

    private static func startTLS(
        _ items: [URLQueryItem], refusal: (String) -> DeliveryError
    ) throws(DeliveryError) -> Security? {
        guard let item = items.first else { return nil }
        guard items.count == 1, item.name == "starttls" else {
            throw refusal("has a query other than `starttls`; \(encoding)")
        }
        switch item.value {
        case "required": return .required
        case "optional": return .optional
        case "off": return .off
        default: throw refusal("has a `starttls` other than `required`, `optional` or `off`")
        }
    }

    private static func hasControl(_ text: String) -> Bool {
        text.unicodeScalars.contains(where: HeaderText.breaksLines)
    }
}

extension SMTPServer: CustomStringConvertible, CustomReflectable {
    /// The host and port, without the login.
    package var description: String { "\(host):\(port)" }
    package var customMirror: Mirror { Mirror(self, children: ["host": host, "port": port]) }
}
