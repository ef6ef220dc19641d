package import Foundation

/// Authenticates batches with a key that is not in the database.
package protocol AuditAuthentication: Sendable {
    /// A digest of every column of the events, in this order.
    func digest(of events: [AuditEvent]) -> [UInt8]
    /// The MAC of all members of the batch except `mac`.
    func mac(of batch: AuditBatch) -> [UInt8]
    func isMAC(_ mac: [UInt8], of batch: AuditBatch) -> Bool
}

/// Stores the chain.
package protocol AuditChainStore: Sendable {
    func hasUnsealedEvents() async throws -> Bool

    /// Gives the oldest unsealed events the next number, and stores the batch that `body` makes of them.
    ///
    /// `time`, in microseconds since the epoch, skips earlier events that are known to be sealed.
    /// - Returns: `nil` if no event is unsealed, or another replica is sealing.
    func seal(
        from time: Int?, atMost count: Int, _ body: @Sendable (_ last: AuditCheckpoint?, [AuditEvent]) -> AuditBatch
    ) async throws -> AuditBatch?

    /// Batches in the order of their numbers.
    func batches(after seq: Int, atMost count: Int) async throws -> [AuditBatch]

    /// The events of the batches, in the order of the batches and of the events in a batch.
    func events(ofBatches batches: ClosedRange<Int>, atMost count: Int) async throws -> [(
        batch: Int, event: AuditEvent
    )]

    /// The number of a batch outside the range that some event names.
    func strayBatch(outside batches: ClosedRange<Int>) async throws -> Int?

    /// How many events are not sealed yet, and the age of the oldest.
    func unsealedEvents() async throws -> (count: Int, oldest: Duration)

    /// The sealing time of the first batch from this number on that has one.
    func sealedAt(from seq: Int) async throws -> Int?

    /// The ids and names of all applications that ever existed.
    func auditedApplications() async throws -> [(id: Application.ID, name: String)]

    /// The events of an application, or of one of its accounts, in the order of time after `last`.
    func events(
        of application: Application.ID, account: [UInt8]?, since: Date?, after last: AuditEvent?, atMost count: Int
    ) async throws -> [AuditEvent]
}
