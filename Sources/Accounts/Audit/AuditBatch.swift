internal import ProviderKit

/// Events that were sealed together, as a link of the audit's chain.
package struct AuditBatch: Sendable, Equatable {
    /// 1 for the first; none is left out.
    package let seq: Int
    /// The MAC of the batch before; empty in the first.
    package let previous: [UInt8]
    /// Times of the oldest and the newest event, in microseconds since the epoch.
    package let firstAt: Int
    package let lastAt: Int
    /// By the clock of the server that sealed it, in microseconds since the epoch; none in a batch of an early version.
    package let sealedAt: Int?
    package let events: Int
    package let digest: [UInt8]
    package var mac: [UInt8]

    package init(
        seq: Int, previous: [UInt8], firstAt: Int, lastAt: Int, sealedAt: Int?, events: Int, digest: [UInt8],
        mac: [UInt8] = []
    ) {
        self.seq = seq
        self.previous = previous
        self.firstAt = firstAt
        self.lastAt = lastAt
        self.sealedAt = sealedAt
        self.events = events
        self.digest = digest
        self.mac = mac
    }

    package var checkpoint: AuditCheckpoint { AuditCheckpoint(seq: seq, mac: mac) }
}

/// How far the chain was at some time; kept outside the database, it shows a tail that was cut off.
package struct AuditCheckpoint: Sendable, Equatable, CustomStringConvertible {
    package let seq: Int
    package let mac: [UInt8]

    package init(seq: Int, mac: [UInt8]) {
        self.seq = seq
        self.mac = mac
    }

    /// Reads `SEQ:MAC`, as the log has it.
    package init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let seq = Int(parts[0]), seq > 0, let mac = [UInt8](hex: parts[1]), mac.count == 32
        else { return nil }
        self.init(seq: seq, mac: mac)
    }

    package var description: String { "\(seq):\(mac.hex)" }
}
