internal import Accounts
internal import Logging
internal import OpenID

/// Logs the errors that are not the client's fault, in whatever form the response reports them.
final class RequestFailureLog: Sendable {
    private let overload = RefusalLog()
    private let plainHTTP = RefusalLog(every: .seconds(60))

    func note(_ error: any Error, in logger: Logger) {
        guard !error.isOverload else { return overload.note(error, in: logger) }
        // A refusal of RFC 6749.
        if error is OAuthError { return }
        guard let known = APIError(any: error) else {
            return logger.error("Request failed", metadata: ["error": "\(error)"])
        }
        if known.code == .httpsRequired, let count = plainHTTP.due() {
            logger.notice(
                "HTTPS required: the peer is not in server.trustedProxies, or it sent no X-Forwarded-Proto: https",
                metadata: ["requests": "\(count)"])
        }
        guard known.code.status >= 500 else { return }
        logger.warning("Request not served", metadata: ["error": "\(error)"])
    }
}
