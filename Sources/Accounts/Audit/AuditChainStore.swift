package import Foundation

/// Authenticates batches with a key that is stored outside the database.
package protocol AuditAuthentication: Sendable {
    /// A digest of all columns of the events, in the order of the array.
    func digest(of events: [AuditEvent]) -> [UInt8]
    /// The MAC of all members of the batch except `mac`.
    func mac(of batch: AuditBatch) -> [UInt8]
    func isMAC(_ mac: [UInt8], of batch: AuditBatch) -> Bool
}

package protocol AuditChainStore: Sendable {
    func hasUnsealedEvents() async throws -> Bool

    /// Gives the oldest unsealed events, from `time` (µs since the epoch) on, to the next batch, which `body` returns.
    ///
    /// There may be more than `count`: all events that have the time of the last one.
    /// - Returns: `nil` if all events are sealed, or another replica is sealing.
    func seal(
        from time: Int?, count: Int, _ body: @Sendable (_ last: AuditCheckpoint?, [AuditEvent]) -> AuditBatch
    ) async throws -> AuditBatch?

    /// The newest batch; `nil` if nothing is sealed yet.
    func lastBatch() async throws -> AuditBatch?
    func batches(after seq: Int, atMost count: Int) async throws -> [AuditBatch]
    /// The events of the batches, ordered by batch number and then by their order in the batch.
    func events(ofBatches batches: ClosedRange<Int>, atMost count: Int) async throws -> [(
        batch: Int, event: AuditEvent
    )]
    /// A batch number outside the range that some event refers to; `nil` if there is none.
    func strayBatch(outside batches: ClosedRange<Int>) async throws -> Int?
    /// The number of events that are not sealed yet, and the age of the oldest.
    func unsealedEvents() async throws -> (count: Int, oldest: Duration)

    /// The earliest recorded sealing time among the batches with this or a higher number, in batch order.
    /// - Returns: `nil` if none of these batches has a sealing time.
    func sealedAt(from seq: Int) async throws -> Int?

    /// The ids and names of all applications that ever existed.
    func auditedApplications() async throws -> [(id: Application.ID, name: String)]
    /// The events of an application, or of one of its accounts, that follow `last` in the order of their times.
    func events(
        of application: Application.ID, account: [UInt8]?, since: Date?, after last: AuditEvent?, atMost count: Int
    ) async throws -> [AuditEvent]
}
