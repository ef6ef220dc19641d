package import ProviderKit

/// Hands text messages to a gateway.
package struct GatewayTransport: TextTransport {
    private let gateway: SMSGateway
    private let http: any HTTPPosting
    private let deadline: Duration

    /// `deadline` is for the whole exchange.
    package init(_ gateway: SMSGateway, by http: any HTTPPosting, deadline: Duration = .seconds(10)) {
        self.gateway = gateway
        self.http = http
        self.deadline = deadline
    }

    package func send(_ message: TextMessage) async throws {
        try await http.deliver(try gateway.request(message), within: deadline)
    }
}
