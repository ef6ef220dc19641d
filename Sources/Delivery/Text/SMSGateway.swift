internal import Accounts
internal import Foundation
internal import ProviderKit

/// The HTTP service that sends all text messages.
package struct SMSGateway: Sendable, Equatable {
    package enum Form: Sendable, Equatable {
        /// A POST of `{"id","to","text"}`; `id` is the same on every retry, so that the gateway can drop repetitions.
        case json
        /// Twilio's `To`, `From` and `Body`, without an id: if it is unknown whether a message was accepted, it may be
        /// sent twice.
        case twilio(from: String)
    }

    private struct Payload: Encodable {
        let id: String
        let to: String
        let text: String
    }

    private let endpoint: HTTPEndpoint
    private let form: Form

    /// Parses the URL, whose user and password are percent-encoded.
    ///
    /// - Throws: `DeliveryError.invalidSetting`, which never repeats the URL.
    package init(url: String, form: Form, field: String = "delivery.sms.url") throws(DeliveryError) {
        endpoint = try HTTPEndpoint(url, field: field)
        self.form = form
    }

    func request(_ message: TextMessage) throws -> FetchRequest {
        switch form {
        case .json:
            let payload = Payload(id: message.id.text, to: message.to.value, text: message.text)
            return try endpoint.post(json: payload)
        case .twilio(let from):
            return endpoint.post(form: ["To": message.to.value, "From": from, "Body": message.text])
        }
    }
}

extension SMSGateway: CustomStringConvertible, CustomReflectable {
    /// The host only, because login, path and query may contain secrets.
    package var description: String { URLComponents(string: endpoint.url)?.host ?? "" }
    package var customMirror: Mirror { Mirror(self, children: ["host": description]) }
}
