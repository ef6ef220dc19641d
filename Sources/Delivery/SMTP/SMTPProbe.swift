internal import CCurl
package import ProviderKit
internal import Synchronization

/// Connects to the relay, greets it and signs in, without sending a mail.
struct SMTPProbe: Sendable {
    let server: SMTPServer
    let authorities: String?
    let deadlines: SMTPTransport.Deadlines

    /// Blocks the calling thread until the relay has answered or the deadline has passed.
    func perform() -> MailRelayState {
        guard Curl.isReady, let handle = curl_easy_init() else { return .failed(.upstreamInterrupted) }
        defer { curl_easy_cleanup(handle) }
        let settings =
            server.connectionSettings(of: handle, authorities: authorities, deadlines: deadlines)
            // libcurl stops once it is connected, which includes EHLO, STARTTLS and AUTH.
            + [{ curl_set_long(handle, CURLOPT_CONNECT_ONLY, 1) }]
        let setting = Curl.apply(settings)
        let code = setting == CURLE_OK ? curl_easy_perform(handle) : setting
        guard code == CURLE_OK else { return Self.failure(code) }
        guard server.user != nil else { return .ready(hasLogin: false) }
        // libcurl goes on without a login if the relay offers none; 235 is the reply to a login (RFC 4954, 6).
        return curl_response_code(handle) == 235 ? .ready(hasLogin: true) : .loginNotOffered
    }

    private static func failure(_ code: CURLcode) -> MailRelayState {
        if code == CURLE_LOGIN_DENIED { return .loginRefused }
        guard case .unreachable(let obstacle)? = Curl.error(code) as? DeliveryError else {
            return .failed(.upstreamInterrupted)
        }
        return switch obstacle {
        case .name: .failed(.upstreamUnresolved)
        case .connection: .failed(.upstreamUnreachable)
        case .timeout: .failed(.upstreamTimeout)
        case .tls: .failed(.upstreamUntrusted)
        case .forbidden: .failed(.upstreamPrivate)
        case .disconnected: .failed(.upstreamInterrupted)
        }
    }
}

extension SMTPTransport {
    /// The most time that a probe takes.
    private static let probeLimit: Duration = .seconds(8)

    /// Connects to the relay and signs in to it; a mail may take longer.
    package func probe() async -> MailRelayState {
        let limits = Deadlines(
            connect: min(deadlines.connect, Self.probeLimit), total: min(deadlines.total, Self.probeLimit))
        let probe = SMTPProbe(server: server, authorities: authorities, deadlines: limits)
        let found = Mutex<MailRelayState?>(nil)
        // Threads of its own, because a probe must not wait for mails.
        try? await BlockingThreads(limit: 1).run { _ in
            let state = probe.perform()
            found.withLock { $0 = state }
        }
        return found.withLock { $0 } ?? .failed(.upstreamTimeout)
    }
}
