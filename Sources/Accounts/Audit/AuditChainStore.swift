package import Foundation

/// Vouches for batches under a key that the database doesn't hold.
package protocol AuditAuthentication: Sendable {
    /// Stands for the events in this order, one by one and column by column.
    func digest(of events: [AuditEvent]) -> [UInt8]
    /// Over everything in the batch but its `mac`.
    func mac(of batch: AuditBatch) -> [UInt8]
    func isMAC(_ mac: [UInt8], of batch: AuditBatch) -> Bool
}

/// Where the chain is kept.
package protocol AuditChainStore: Sendable {
    func hasUnsealedEvents() async throws -> Bool

    /// Gives the oldest unsealed events the next number, and keeps the batch that `body` makes of them and the last one.
    ///
    /// One replica at a time. Whoever knows that nothing is unsealed before some time, in microseconds since the epoch,
    /// spares looking there.
    /// - Returns: `nil` where nothing is unsealed, or another replica is at it.
    func seal(
        from time: Int?, atMost count: Int, _ body: @Sendable (_ last: AuditCheckpoint?, [AuditEvent]) -> AuditBatch
    ) async throws -> AuditBatch?

    /// In the order of their numbers.
    func batches(after seq: Int, atMost count: Int) async throws -> [AuditBatch]

    /// The events that bear these numbers: by number, then in the order in which a batch has them.
    func events(ofBatches batches: ClosedRange<Int>, atMost count: Int) async throws -> [(
        batch: Int, event: AuditEvent
    )]

    /// Some number outside the range that an event bears.
    func strayBatch(outside batches: ClosedRange<Int>) async throws -> Int?

    /// How many events wait for their seal, and how long ago the first of them was written down.
    func unsealedEvents() async throws -> (count: Int, oldest: Duration)

    /// When the next batch was sealed that says so.
    func sealedAt(from seq: Int) async throws -> Int?

    /// Numbers of all applications that ever were, and their names.
    func auditedApplications() async throws -> [(id: Application.ID, name: String)]

    /// Events of an application in the order of their times, after one of them; of one account, or all.
    func events(
        of application: Application.ID, account: [UInt8]?, since: Date?, after last: AuditEvent?, atMost count: Int
    ) async throws -> [AuditEvent]
}
