import Foundation

/// Files are small here, and one that is not must not become a problem of memory.
enum BoundedFile {
    static let maximumSize = 1 << 20

    /// Why a file can't be had, in words that follow its name.
    struct Failure: Error {
        let reason: String
    }

    /// The whole content, as UTF-8.
    static func text(at path: String) throws(Failure) -> String {
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
        guard let text = String(validating: bytes, as: UTF8.self) else { throw Failure(reason: "is not UTF-8 text") }
        return text
    }
}

extension BoundedFile.Failure {
    fileprivate init(errno code: Int32) {
        reason = "can't be read: \(String(cString: strerror(code)))"
    }
}
