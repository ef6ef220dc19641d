internal import ProviderKit

/// Sends mails to a relay, each on its own connection.
///
/// A connection occupies a thread, so that the number of threads limits that of connections: a relay that hangs on some
/// mails delays the others only if it hangs on as many as there are threads.
package struct SMTPTransport: MessageTransport {
    package struct Deadlines: Sendable {
        /// For everything up to the login: libcurl counts the greeting and the login as part of connecting.
        package var connect: Duration
        /// For everything up to the reply to the last byte; `QUIT` may take as long again.
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

    /// `authorities` is a PEM file with certificate authorities that replace the system's.
    ///
    /// The threads may be shared with the transport that this one replaces.
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
