import Accounts
import Foundation
import Synchronization

/// An in-memory implementation of the ports for signing keys and the root key.
final class MemoryStore: SigningKeyStore, RootKeyStore {
    struct Unreachable: Error {}

    private struct Row {
        var key: StoredSigningKey
        var publishedUntil: Date?
    }

    private struct Tables {
        var rows: [Application.ID: [Row]] = [:]
        /// The recorded audit events.
        var events: [AuditEntry] = []
        var rootKey: [UInt8]?
        var reads = 0
        var isDown = false
        /// The number of readers that wait for each other.
        ///
        /// All of them then get the same rows.
        var readersToWaitFor = 0
        var waiting: [CheckedContinuation<Void, Never>] = []

        mutating func release() -> [CheckedContinuation<Void, Never>] {
            defer { (readersToWaitFor, waiting) = (0, []) }
            return waiting
        }
    }

    private let tables = Mutex(Tables())
    private let time: ManualTime

    init(time: ManualTime) {
        self.time = time
    }

    var events: [AuditEntry] { tables.withLock { $0.events } }
    var reads: Int { tables.withLock { $0.reads } }
    var wrapped: [UInt8]? { tables.withLock { $0.rootKey } }

    func setDown(_ isDown: Bool) {
        tables.withLock { $0.isDown = isDown }
    }

    func makeReadersMeet(_ count: Int) {
        tables.withLock { $0.readersToWaitFor = count }
    }

    /// Runs `other` after `read` has read its rows and before it receives them.
    func overtake(_ read: @escaping @Sendable () async throws -> Void, with other: () async throws -> Void) async throws
    {
        makeReadersMeet(.max)
        let overtaken = Task { try await read() }
        while tables.withLock({ $0.waiting.isEmpty }) { await Task.yield() }
        makeReadersMeet(0)
        try await other()
        for reader in tables.withLock({ $0.release() }) { reader.resume() }
        try await overtaken.value
    }

    func change(_ application: Application.ID, _ body: (inout StoredSigningKey) -> Void) {
        tables.withLock { tables in
            tables.rows[application] = tables.rows[application]?.map { row in
                var row = row
                body(&row.key)
                return row
            }
        }
    }

    func signingKeys(application: Application.ID) async throws -> [StoredSigningKey] {
        let keys = try tables.withLock { tables in
            tables.reads += 1
            guard !tables.isDown else { throw Unreachable() }
            return (tables.rows[application] ?? [])
                .filter { row in row.publishedUntil.map { $0 > time.now() } ?? true }
                .map(\.key)
        }
        await meet()
        return keys
    }

    func installSigningKey(
        _ key: StoredSigningKey, replacing expected: String?, overlap: Duration, recording event: AuditEntry?,
        application: Application.ID
    ) async throws {
        let now = time.now()
        tables.withLock { tables in
            var rows = tables.rows[application] ?? []
            guard rows.first(where: { $0.key.retiredAt == nil })?.key.kid == expected else { return }
            if let event { tables.events.append(event) }
            for index in rows.indices where rows[index].key.retiredAt == nil {
                rows[index].key.retiredAt = now
                rows[index].publishedUntil = now.addingTimeInterval(Double(overlap.components.seconds))
            }
            rows.insert(Row(key: key), at: 0)
            tables.rows[application] = rows
        }
    }

    func unpublishSigningKey(
        _ kid: String, for purpose: SigningPurpose, recording event: AuditEntry, application: Application.ID
    ) async throws {
        let now = time.now()
        tables.withLock { tables in
            let rows = tables.rows[application] ?? []
            for index in rows.indices
            where rows[index].key.kid == kid && rows[index].publishedUntil.map({ $0 > now }) == true {
                tables.rows[application]?[index].publishedUntil = now
                tables.events.append(event)
            }
        }
    }

    func wrappedRootKey() async throws -> [UInt8]? {
        let key = tables.withLock { $0.rootKey }
        await meet()
        return key
    }

    func insertWrappedRootKey(_ wrapped: [UInt8]) async throws -> [UInt8] {
        tables.withLock { tables in
            let winner = tables.rootKey ?? wrapped
            tables.rootKey = winner
            return winner
        }
    }

    func replaceWrappedRootKey(_ old: [UInt8], with new: [UInt8]) async throws {
        tables.withLock { tables in
            guard tables.rootKey == old else { return }
            tables.rootKey = new
        }
    }

    private func meet() async {
        await withCheckedContinuation { continuation in
            let released = tables.withLock { tables -> [CheckedContinuation<Void, Never>] in
                guard tables.readersToWaitFor > 0 else { return [continuation] }
                tables.waiting.append(continuation)
                return tables.waiting.count < tables.readersToWaitFor ? [] : tables.release()
            }
            for reader in released { reader.resume() }
        }
    }
}
