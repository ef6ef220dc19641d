/// The streams that receive the changes of a session.
final class Listeners: Sendable {
    private let open = Locked<(next: Int, streams: [Int: AsyncStream<GatehouseClient.Change>.Continuation])>((0, [:]))

    func add(_ stream: AsyncStream<GatehouseClient.Change>.Continuation) {
        let id = open.withLock { open in
            open.next += 1
            open.streams[open.next] = stream
            return open.next
        }
        stream.onTermination = { [weak self] _ in self?.open.withLock { _ = $0.streams.removeValue(forKey: id) } }
    }

    func report(_ change: GatehouseClient.Change) {
        for (id, stream) in open.withLock({ $0.streams }) {
            // `onTermination` is not called for a stream that ended before it was set.
            if case .terminated = stream.yield(change) { open.withLock { _ = $0.streams.removeValue(forKey: id) } }
        }
    }

    deinit { open.withLock { $0.streams.values.forEach { $0.finish() } } }
}
