package import Foundation
package import ProviderKit

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
    ///
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
