internal import Foundation

/// The HTTP service that takes all text messages.
package struct SMSGateway: Sendable, Equatable {
    package enum Form: Sendable, Equatable {
        /// A POST of `{"id","to","text"}`; `id` is the same on every retry, so that the gateway can drop repetitions.
        case json
        /// Twilio's `To`, `From`, `Body`, which has no such field: what is in doubt may be sent twice.
        case twilio(from: String)
    }

    /// Without user and password.
    package let url: String
    package let user: String?
    package let password: String?
    package let form: Form

    /// Reads the URL, whose user and password are percent-encoded.
    ///
    /// - Throws: `DeliveryError.invalidSetting`, which never repeats the URL.
    package init(url text: String, form: Form, field: String = "delivery.sms.url") throws(DeliveryError) {
        func refusal(_ reason: String) -> DeliveryError { .invalidSetting(field: field, reason: reason) }
        guard var url = URLComponents(string: text), url.host?.isEmpty == false,
            ["http", "https"].contains(url.scheme?.lowercased())
        else { throw refusal("is not an absolute http or https URL") }
        user = url.user
        password = url.password
        url.user = nil
        url.password = nil
        url.fragment = nil
        guard let address = url.string,
            ![address, user ?? "", password ?? ""].contains(where: { $0.unicodeScalars.contains { $0.value < 32 } })
        else { throw refusal("has a control character") }
        self.url = address
        self.form = form
    }
}

extension SMSGateway: CustomStringConvertible, CustomReflectable {
    /// Neither the login nor a path or query, which may hold a key.
    package var description: String { URLComponents(string: url)?.host ?? "" }

    package var customMirror: Mirror { Mirror(self, children: ["host": description]) }
}
