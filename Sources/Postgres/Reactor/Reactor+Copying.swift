import CLibPQ

/// A COPY under way: how much of it libpq has taken.
struct CopyProgress {
    let request: Request
    let bytes: [UInt8]
    var sent = 0
}

extension Reactor {
    /// A turn of the reactor hands over so much: everybody else is served in between, and libpq's own buffer, which it
    /// moves whenever the socket takes a part, stays small.
    private static let chunk = 128 * 1024

    /// Sends the next piece once the one before has left, and ends the COPY after the last: with a failure if its
    /// caller has gone, for the server would store what has arrived.
    func feed(_ connection: Connection) {
        guard var copy = connection.copy, !connection.hasUnsentBytes, let link = connection.link else { return }
        connection.lastProgress = now
        let isUnwanted = copy.request.promise.isSettled
        let size = min(Self.chunk, copy.bytes.count - copy.sent)
        if size > 0, !isUnwanted {
            let status = copy.bytes.withUnsafeBytes { buffer in
                let next = buffer.baseAddress?.advanced(by: copy.sent).assumingMemoryBound(to: CChar.self)
                return PQputCopyData(link.raw, next, Int32(truncatingIfNeeded: size))
            }
            guard status == 1 else { return lose(connection, link.complaint) }
            copy.sent += size
            connection.copy = copy
        } else {
            guard PQputCopyEnd(link.raw, isUnwanted ? "given up by the client" : nil) == 1 else {
                return lose(connection, link.complaint)
            }
            connection.copy = nil
        }
        // what libpq could not write at once waits for the socket, and the next turn for that
        connection.hasUnsentBytes = true
    }
}
