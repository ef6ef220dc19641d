internal import Accounts
internal import Dispatch
internal import Foundation
internal import ProviderKit

/// The erasure ledger in a file that all replicas append to, with one JSON object on each line.
///
/// Each line has a MAC under a key that is not stored with the file. Without the MAC, write access to the file would
/// suffice to have a live account erased at the next start.
struct LedgerFile: ErasureLedger {
    let path: String
    /// Returns the MAC of a line's content, 32 bytes.
    let authenticate: @Sendable (_ content: String) -> [UInt8]

    fileprivate struct Line: Codable {
        let application: String
        let uid: String
        let aliases: [String]?
        let receipt: String
        let requestedAt: String
        let erasedAt: String
        /// The MAC in hexadecimal.
        var mac = ""
    }

    /// The queue for file operations, which block.
    private static let queue = DispatchQueue(label: "gatehouse.erasure-ledger", qos: .utility)

    /// - Throws: `ServerError.unusableLedger`.
    func append(_ entry: LedgerEntry) async throws { try await blocking { try appendLine(entry) } }

    /// - Throws: `ServerError.unusableLedger`, also for an unreadable line, because it may stand for an erasure.
    func entries() async throws -> [LedgerEntry] { try await blocking { try readLines() } }

    /// - Throws: `ServerError.unusableLedger`.
    func isEmpty() async throws -> Bool {
        try await blocking {
            let descriptor = try opened()
            defer { close(descriptor) }
            return try size(of: descriptor) == 0
        }
    }

    private func blocking<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            Self.queue.async { continuation.resume(with: Result { try body() }) }
        }
    }

    private func appendLine(_ entry: LedgerEntry) throws {
        let descriptor = try opened()
        defer { close(descriptor) }
        // The lock is needed because appending is not atomic if replicas share the file over a network.
        guard flock(descriptor, LOCK_EX) == 0 else { throw failure("lock") }
        // A newline ends a line that a crash left incomplete.
        let start: [UInt8] = try endsInLine(descriptor) ? [] : [UInt8(ascii: "\n")]
        var bytes = try (start + Array(JSONEncoder.stable.encode(sealed(Line(entry)))) + [UInt8(ascii: "\n")])[...]
        while !bytes.isEmpty {
            let written = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            guard written > 0 else { throw failure("write") }
            bytes = bytes.dropFirst(written)
        }
        guard fsync(descriptor) == 0 else { throw failure("fsync") }
    }

    /// Opens the file.
    ///
    /// If the file is new, its directory is synchronized to disk too.
    private func opened() throws -> Int32 {
        let isNew = !FileManager.default.fileExists(atPath: path)
        let descriptor = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure("open") }
        if isNew {
            let directory = open(URL(filePath: path).deletingLastPathComponent().path, O_RDONLY | O_CLOEXEC)
            if directory >= 0 {
                fsync(directory)
                close(directory)
            }
        }
        return descriptor
    }

    private func endsInLine(_ descriptor: Int32) throws -> Bool {
        let size = try size(of: descriptor)
        guard size > 0 else { return true }
        var last: UInt8 = 0
        guard pread(descriptor, &last, 1, size - 1) == 1 else { throw failure("read") }
        return last == UInt8(ascii: "\n")
    }

    private func size(of descriptor: Int32) throws -> off_t {
        let size = lseek(descriptor, 0, SEEK_END)
        guard size >= 0 else { throw failure("seek") }
        return size
    }

    private func readLines() throws -> [LedgerEntry] {
        close(try opened())
        guard let data = FileManager.default.contents(atPath: path) else { throw failure("read") }
        var entries: [LedgerEntry] = []
        for (number, line) in data.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated()
        where !line.isEmpty {
            if let line = try? JSONDecoder().decode(Line.self, from: line), let entry = line.entry {
                guard ConstantTime.areEqual(sealed(line).mac.utf8, line.mac.utf8) else {
                    throw ServerError.unusableLedger(
                        path: path, reason: "line \(number + 1) was not written by a server of this database")
                }
                entries.append(entry)
            } else if !isTorn(line) {
                throw ServerError.unusableLedger(path: path, reason: "line \(number + 1) is not an entry of a ledger")
            }
        }
        return entries
    }

    /// Whether a crash left the line incomplete.
    ///
    /// The line's erasure did not happen and will be appended again.
    private func isTorn(_ line: Data) -> Bool { line.first == UInt8(ascii: "{") && line.last != UInt8(ascii: "}") }

    private func sealed(_ line: Line) -> Line {
        var line = line
        let parts = [line.application, line.uid, line.receipt, line.requestedAt, line.erasedAt] + (line.aliases ?? [])
        line.mac = authenticate(parts.joined(separator: "\n")).hex
        return line
    }

    private func failure(_ step: String) -> ServerError {
        .unusableLedger(path: path, reason: "\(step): \(String(cString: strerror(errno)))")
    }
}

extension LedgerFile.Line {
    fileprivate init(_ entry: LedgerEntry) {
        application = entry.application
        uid = entry.uid.text
        aliases = entry.aliases.isEmpty ? nil : entry.aliases.map(\.text)
        receipt = entry.receipt.text
        requestedAt = entry.requestedAt.precise
        erasedAt = entry.erasedAt.precise
    }

    fileprivate var entry: LedgerEntry? {
        guard let uid = UUID(uuidString: uid), let receipt = UUID(uuidString: receipt),
            let requestedAt = Date(precise: requestedAt),
            let erasedAt = Date(precise: erasedAt)
        else { return nil }
        return LedgerEntry(
            application: application, uid: uid, aliases: (aliases ?? []).compactMap { UUID(uuidString: $0) },
            receipt: receipt, requestedAt: requestedAt, erasedAt: erasedAt)
    }
}
