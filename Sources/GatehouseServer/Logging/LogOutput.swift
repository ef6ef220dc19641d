import Foundation
import Synchronization

/// The destination of log lines.
///
/// Lines from different threads are never interleaved.
package protocol LogOutput: Sendable {
    /// Writes a line; the text has no newline at its end.
    func write(_ line: String)
}

/// The standard error stream, which receives log lines.
///
/// Standard output is for the results of commands.
package final class StandardError: LogOutput {
    package static let shared = StandardError()

    private let descriptor = STDERR_FILENO
    private let lock = Mutex(())

    private init() {}
    package var isTerminal: Bool { isatty(descriptor) == 1 }

    /// Writes a line, and blocks while the reader is slow.
    ///
    /// A line that can't be written is lost.
    package func write(_ line: String) {
        var bytes = Array(line.utf8)
        bytes.append(0x0A)
        lock.withLock { _ in bytes.withUnsafeBytes { write(all: $0) } }
    }

    private func write(all bytes: UnsafeRawBufferPointer) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = Foundation.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if count < 0, errno == EAGAIN {
                var writable = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&writable, 1, 1000)
            } else if count == 0 || errno != EINTR {
                return
            }
        }
    }
}
