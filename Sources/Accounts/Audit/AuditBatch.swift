internal import ProviderKit

/// Audit events that were sealed together: one link of the audit chain.
package struct AuditBatch: Sendable, Equatable {
    /// The number of the batch; batches are numbered consecutively from 1.
    package let seq: Int
    /// The MAC of the previous batch; empty in the first one.
    package let previous: [UInt8]
    /// Times of the oldest and the newest event, in microseconds since the epoch.
    package let firstAt: Int
    package let lastAt: Int
    /// The sealing time in microseconds since the epoch, by the server's clock; `nil` in batches of early versions.
    package let sealedAt: Int?
    package let events: Int
    package let digest: [UInt8]
    package var mac: [UInt8]

    package init(
        seq: Int, previous: [UInt8], firstAt: Int, lastAt: Int, sealedAt: Int?, events: Int, digest: [UInt8],
        mac: [UInt8] = []
    ) {
        (self.seq, self.previous, self.firstAt, self.lastAt) = (seq, previous, firstAt, lastAt)
        (self.sealedAt, self.events, self.digest, self.mac) = (sealedAt, events, digest, mac)
    }

    package var checkpoint: AuditCheckpoint { AuditCheckpoint(seq: seq, mac: mac) }
}

/// The number and MAC of a batch; kept outside the database, they reveal that batches up to it were removed.
package struct AuditCheckpoint: Sendable, Equatable, CustomStringConvertible {
    package let seq: Int
    package let mac: [UInt8]

    package init(seq: Int, mac: [UInt8]) { (self.seq, self.mac) = (seq, mac) }

    /// Parses `SEQ:MAC`, the form in the log.
    package init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let seq = Int(parts[0]), seq > 0, let mac = [UInt8](hex: parts[1]), mac.count == 32
        else { return nil }
        self.init(seq: seq, mac: mac)
    }

    package var description: String { "\(seq):\(mac.hex)" }
}
