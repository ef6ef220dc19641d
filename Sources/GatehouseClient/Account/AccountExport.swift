public import Foundation

extension GatehouseClient {
    /// Everything that the server holds about the person, in JSON.
    public struct AccountExport: Sendable {
        /// The name that the server suggests for a file.
        public let fileName: String?
        /// The document in parts, as they arrive; it throws `GatehouseError` if the export breaks off.
        public let parts: AsyncThrowingStream<Data, any Error>
    }

    /// Begins to read everything that the server holds about the person; it needs a recent sign-in.
    ///
    /// The document may be large, so it comes as a stream. Parts that have arrived stay in memory until they are read.
    /// - Returns: The document, whose parts are still on their way.
    /// - Throws: `refused` with `TOKEN_TOO_OLD` or `RATE_LIMITED`, or another failure.
    public func exportAccount() async throws(GatehouseError) -> AccountExport {
        let call = Call.get("auth", "account", "export")
        let response = try await authorized(call) { bearer throws(GatehouseError) in
            try await server.stream(call, bearer: bearer)
        }
        let name = response.headers["content-disposition"].flatMap { field in
            field.split(separator: "\"").dropFirst().first.map { String($0) }
        }
        return AccountExport(fileName: name, parts: response.typedBody)
    }
}

extension GatehouseClient.Response {
    /// The body, whose errors are `GatehouseError`.
    fileprivate var typedBody: AsyncThrowingStream<Data, any Error> {
        let (stream, continuation) = AsyncThrowingStream.makeStream(of: Data.self)
        let body = body
        // Uses an unstructured task, because the stream outlives this call; the end of the stream cancels the task.
        let task = Task {
            do {
                for try await part in body { continuation.yield(part) }
                continuation.finish()
            } catch {
                continuation.finish(throwing: GatehouseError(ofTransport: error))
            }
        }
        continuation.onTermination = { _ in task.cancel() }
        return stream
    }
}
