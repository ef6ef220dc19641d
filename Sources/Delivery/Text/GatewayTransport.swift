/// Hands text messages to a gateway, each on a connection of its own, as `SMTPTransport` does with mail.
package struct GatewayTransport: TextTransport {
    private let gateway: SMSGateway
    private let deadline: Duration
    private let threads: BlockingThreads

    /// `deadline` is for the whole exchange.
    package init(
        _ gateway: SMSGateway, deadline: Duration = .seconds(10), threads: BlockingThreads = BlockingThreads(limit: 8)
    ) {
        self.gateway = gateway
        self.deadline = deadline
        self.threads = threads
    }

    package func send(_ message: TextMessage) async throws {
        let exchange = HTTPExchange(
            endpoint: gateway.endpoint, request: try gateway.request(message), deadline: deadline)
        try await threads.run { isAbandoned in
            try exchange.perform(isAbandoned: isAbandoned)
        }
    }
}
