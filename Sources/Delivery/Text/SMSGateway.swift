internal import Foundation

/// The HTTP service that takes all text messages.
package struct SMSGateway: Sendable, Equatable {
    package enum Form: Sendable, Equatable {
        /// A POST of `{"id","to","text"}`; `id` is the same on every retry, so that the gateway can drop repetitions.
        case json
        /// Twilio's `To`, `From`, `Body`, which has no such field: what is in doubt may be sent twice.
        case twilio(from: String)
    }

    let endpoint: HTTPEndpoint
    package let form: Form

    /// Reads the URL, whose user and password are percent-encoded.
    ///
    /// - Throws: `DeliveryError.invalidSetting`, which never repeats the URL.
    package init(url: String, form: Form, field: String = "delivery.sms.url") throws(DeliveryError) {
        endpoint = try HTTPEndpoint(url, field: field)
        self.form = form
    }
}

extension SMSGateway: CustomStringConvertible, CustomReflectable {
    /// Neither the login nor a path or query, which may hold a key.
    package var description: String { URLComponents(string: endpoint.url)?.host ?? "" }

    package var customMirror: Mirror { Mirror(self, children: ["host": description]) }
}
