internal import Logging
internal import ProviderKit
internal import Synchronization

/// Logs each failed exchange at debug level, and changes of an upstream's state at higher levels.
///
/// Only the host and the port of a URL are logged.
final class OutboundLog: Sendable {
    private let logger: Mutex<Logger>

    init(_ logger: Logger) { self.logger = Mutex(logger) }
    func replace(with logger: Logger) { self.logger.withLock { $0 = logger } }

    func failed(_ owner: OwnerRecord.Owner, upstream: String?, _ failure: OutboundFailure) {
        current.debug("A provider's request failed", metadata: metadata(owner, upstream, reason: failure))
    }

    func changed(_ owner: OwnerRecord.Owner, upstream: String, to change: OwnerRecord.Change) {
        switch change {
        case .down: current.warning("A provider's service is down", metadata: metadata(owner, upstream))
        case .up: current.notice("A provider's service is up again", metadata: metadata(owner, upstream))
        }
    }

    private var current: Logger { logger.withLock { $0 } }

    private func metadata(
        _ owner: OwnerRecord.Owner, _ upstream: String?, reason: OutboundFailure? = nil
    ) -> Logger.Metadata {
        var metadata: Logger.Metadata = ["application": "\(owner.application)", "provider": "\(owner.provider)"]
        if let upstream { metadata["host"] = "\(upstream)" }
        if let reason { metadata["reason"] = "\(reason.rawValue)" }
        return metadata
    }
}

/// The reason why an exchange failed; the raw value is logged.
enum OutboundFailure: String, Error, Equatable {
    case invalidURL = "invalid URL"
    case plainHTTP = "not https"
    case invalidHeader = "a header field can't be sent"
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
        case .invalidURL, .plainHTTP, .invalidHeader, .privateAddress, .crowded, .circuitOpen, .shutDown, .abandoned:
            .unknown
        }
    }

    /// The failure in the terms of a delivery.
    var obstacle: Obstacle {
        switch self {
        case .invalidURL, .unresolvable: .name
        case .plainHTTP, .invalidHeader, .privateAddress: .forbidden
        case .notConnected, .crowded, .circuitOpen, .shutDown: .connection
        case .untrusted: .tls
        case .timedOut: .timeout
        case .interrupted, .tooLarge, .redirected, .abandoned: .disconnected
        }
    }
}
