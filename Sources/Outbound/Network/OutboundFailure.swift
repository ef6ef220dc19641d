internal import ProviderKit

/// The reason why an exchange failed; the raw value is logged.
enum OutboundFailure: String, Error, Equatable {
    case invalidURL = "invalid URL"
    case plainHTTP = "not https"
    case privateAddress = "address is not public"
    case unresolvable = "host can't be resolved"
    case notConnected = "no connection"
    case untrusted = "no TLS that can be trusted"
    case interrupted = "connection or protocol failed"
    case timedOut = "no response in time"
    case tooLarge = "response is too large"
    case redirected = "redirected elsewhere"
    case crowded = "too many requests under way"
    case circuitOpen = "failed too often lately"
    case shutDown = "shutting down"
    case abandoned = "cancelled by the caller"

    /// The failure as evidence about the upstream.
    var outcome: CircuitBreaker.Outcome {
        switch self {
        case .unresolvable, .notConnected, .untrusted, .interrupted, .timedOut, .tooLarge: .failed
        case .redirected: .answered
        case .invalidURL, .plainHTTP, .privateAddress, .crowded, .circuitOpen, .shutDown, .abandoned: .unknown
        }
    }

    /// The failure in the terms of a delivery.
    var obstacle: Obstacle {
        switch self {
        case .invalidURL, .unresolvable: .name
        case .plainHTTP, .privateAddress: .forbidden
        case .notConnected, .crowded, .circuitOpen, .shutDown: .connection
        case .untrusted: .tls
        case .timedOut: .timeout
        case .interrupted, .tooLarge, .redirected, .abandoned: .disconnected
        }
    }
}
