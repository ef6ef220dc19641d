import Foundation
import Synchronization

/// Where log lines go.
///
/// A line is written whole: two threads' lines never mix.
package protocol LogOutput: Sendable {
    /// Takes a line without the newline at its end, and with none inside.
    func write(_ line: String)
}

/// Standard error: what a command prints as its result has standard output to itself, and a container's runtime
/// collects both.
package final class StandardError: LogOutput {
    package static let shared = StandardError()

    private let descriptor = STDERR_FILENO
    private let turn = Mutex(())

    private init() {}

    /// Colours and the like reach a person.
    package var isTerminal: Bool { isatty(descriptor) == 1 }

    /// Blocks while the reader is slow; what can't be written is lost, since there is nowhere left to say so.
    package func write(_ line: String) {
        var bytes = Array(line.utf8)
        bytes.append(0x0A)
        turn.withLock { _ in
            bytes.withUnsafeBytes { write(all: $0) }
        }
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
