internal import ProviderKit

/// Hands mail to a relay, each on a connection of its own.
///
/// A connection occupies a thread while it waits for the relay. Threads are what bounds the connections: one relay
/// that hangs on some mails delays the others only when it hangs on as many as there are threads.
package struct SMTPTransport: MessageTransport {
    package struct Deadlines: Sendable {
        /// For everything up to the login: libcurl counts the greeting and the login as part of connecting.
        package var connect: Duration
        /// For everything up to the reply to the last byte; the goodbye after it may take as long again.
        package var total: Duration

        package init(connect: Duration = .seconds(10), total: Duration = .seconds(20)) {
            self.connect = connect
            self.total = total
        }
    }

    private let server: SMTPServer
    private let authorities: String?
    private let deadlines: Deadlines
    private let threads: BlockingThreads

    /// The threads may be shared with the transport that this one replaces.
    ///
    /// `authorities` is a PEM file with those that may vouch for the relay, instead of the system's.
    package init(
        _ server: SMTPServer, authorities: String? = nil, deadlines: Deadlines = Deadlines(),
        threads: BlockingThreads = BlockingThreads(limit: 8)
    ) {
        self.server = server
        self.authorities = authorities
        self.deadlines = deadlines
        self.threads = threads
    }

    package func send(_ mail: Mail) async throws {
        let exchange = SMTPExchange(
            server: server, authorities: authorities, deadlines: deadlines, sender: mail.from.address.value,
            recipient: mail.to.value,
            content: MIMEMessage(mail).bytes)
        try await threads.run { isAbandoned in
            try exchange.perform(isAbandoned: isAbandoned)
        }
    }
}
