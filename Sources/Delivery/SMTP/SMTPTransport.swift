internal import ProviderKit

/// Sends mails to a relay, each on its own connection.
///
/// A connection occupies a thread, so the number of threads limits the number of connections. A relay that hangs on
/// some mails delays other mails only if those connections occupy all threads.
package struct SMTPTransport: MessageTransport {
    package struct Deadlines: Sendable {
        /// The limit up to the end of the login: libcurl counts the greeting and the login as part of connecting.
        package var connect: Duration
        /// The limit up to the relay's reply to the whole content; `QUIT` may take the same time again.
        package var total: Duration

        package init(connect: Duration = .seconds(10), total: Duration = .seconds(20)) {
            self.connect = connect
            self.total = total
        }
    }

    let server: SMTPServer
    let authorities: String?
    let deadlines: Deadlines
    private let threads: BlockingThreads

    /// `authorities` is the path of a PEM file with certificate authorities that are trusted besides the system's.
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
            recipient: mail.to.value, content: MIMEMessage(mail).bytes)
        try await threads.run { isAbandoned in try exchange.perform(isAbandoned: isAbandoned) }
    }
}
