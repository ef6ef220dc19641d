public import Foundation

extension GatehouseClient {
    /// A JSON document with all data that the server stores about the person.
    public struct AccountExport: Sendable {
        /// The file name that the server suggests.
        public let fileName: String?
        /// The document in parts, as they arrive; the stream throws `GatehouseError` if the download fails.
        public let parts: AsyncThrowingStream<Data, any Error>
    }

    /// Starts the download of all data that the server stores about the person; requires a recent sign-in.
    ///
    /// The document may be large, so it is a stream. Parts that have arrived stay in memory until the app reads them.
    /// - Returns: The document, as soon as the download has started.
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
    /// The body as a stream that throws only `GatehouseError`.
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
