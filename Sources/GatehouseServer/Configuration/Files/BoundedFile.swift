internal import Foundation

/// Reads small files, and refuses larger ones so that they cannot exhaust memory.
enum BoundedFile {
    private static let maximumSize = 1 << 20

    /// The reason why a file can't be read, worded to follow the file's name.
    struct Failure: Error {
        let reason: String

        fileprivate init(reason: String) { self.reason = reason }
        fileprivate init(errno code: Int32) { reason = "can't be read: \(String(cString: strerror(code)))" }
    }

    /// The whole content, as UTF-8.
    static func text(at path: String) throws(Failure) -> String {
        guard let text = String(validating: try bytes(at: path), as: UTF8.self) else {
            throw Failure(reason: "is not UTF-8 text")
        }
        return text
    }

    /// The whole content.
    static func bytes(at path: String) throws(Failure) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Failure(errno: errno) }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw Failure(errno: errno) }
            guard count > 0 else { break }
            bytes += chunk[..<count]
            guard bytes.count <= maximumSize else { throw Failure(reason: "is larger than 1 MiB") }
        }
        return bytes
    }
}

/// Identifies the state of a file or a directory, so that changes are detected without reading it.
///
/// A directory's state changes when an entry is added, removed or renamed, not when an entry's content changes.
/// Symbolic links are followed: replacing a link, as Kubernetes does for a mounted ConfigMap, changes the inode.
struct FileStamp: Sendable, Equatable {
    private let device: Int
    private let inode: Int
    private let size: Int
    private let modifiedAt: Date

    /// - Returns: `nil` for a missing file, and for pipes and devices, which have no state to compare.
    init?(of path: String) {
        // This avoids `stat(2)`, whose module depends on the other files that the compiler reads.
        let target = URL(filePath: path).resolvingSymlinksInPath().path
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: target),
            let type = attributes[.type] as? FileAttributeType, type == .typeRegular || type == .typeDirectory,
            let device = attributes[.systemNumber] as? Int, let inode = attributes[.systemFileNumber] as? Int,
            let size = attributes[.size] as? Int, let modifiedAt = attributes[.modificationDate] as? Date
        else { return nil }
        (self.device, self.inode, self.size, self.modifiedAt) = (device, inode, size, modifiedAt)
    }
}
