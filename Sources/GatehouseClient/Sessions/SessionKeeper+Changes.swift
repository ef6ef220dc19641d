extension SessionKeeper {
    /// The changes of the session; the first element is the current state.
    nonisolated func changes() -> AsyncStream<GatehouseClient.Change> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: GatehouseClient.Change.self, bufferingPolicy: .bufferingNewest(100))
        Task { await listen(continuation) }
        return stream
    }

    private func listen(_ continuation: AsyncStream<GatehouseClient.Change>.Continuation) {
        do {
            if let session = try session() {
                continuation.yield(.signedIn(session))
            } else {
                continuation.yield(.signedOut(.notSignedIn))
            }
        } catch {
            continuation.yield(.storageFailed(error))
        }
        listeners.add(continuation)
    }
}
