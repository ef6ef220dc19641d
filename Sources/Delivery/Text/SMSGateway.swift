internal import Accounts
package import Foundation
package import ProviderKit

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

/// One text message to one phone number.
package struct TextMessage: Sendable, Equatable {
    /// The id, which stays the same for every attempt to send the message.
    package let id: UUID
    package let application: String
    package let to: PhoneNumber
    package let text: String
}

/// Sends text messages to a service or a store.
package protocol TextTransport: Sendable {
    /// Sends the message, and returns once the gateway has taken responsibility for it.
    ///
    /// On cancellation it returns without waiting. The same message may be sent again, with the same `id`.
    /// - Throws: `DeliveryError` or `CancellationError`; any other error counts as transient.
    func send(_ message: TextMessage) async throws
}

/// Sends text messages through an HTTP gateway.
package struct GatewayTransport: TextTransport {
    private let gateway: SMSGateway
    private let http: any HTTPPosting
    private let deadline: Duration

    /// `deadline` is the limit for the whole exchange.
    package init(_ gateway: SMSGateway, by http: any HTTPPosting, deadline: Duration = .seconds(10)) {
        self.gateway = gateway
        self.http = http
        self.deadline = deadline
    }

    package func send(_ message: TextMessage) async throws {
        try await http.deliver(try gateway.request(message), within: deadline)
    }
}
