internal import Logging
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
