public import Foundation

extension GatehouseClient {
    /// Sends requests; an app can replace the default, and tests can lose or delay responses.
    public protocol Transport: Sendable {
        /// Sends a request once and returns the response, whose body may still arrive.
        ///
        /// It must not follow redirects, keep cookies or cache responses, and must end early if its task is cancelled.
        /// - Throws: `URLError`, `GatehouseError.NetworkFailure` or `CancellationError`; any other error counts as a
        ///   network failure.
        func send(_ request: Request) async throws -> Response
    }

    /// A request; its description and its mirror do not show the headers and the body.
    public struct Request: Sendable {
        /// The method, in upper case.
        public let method: String
        /// The URL, which never contains a token.
        public let url: URL
        /// The header fields; `Authorization` holds the access token.
        public let headers: [String: String]
        /// The JSON body.
        public let body: Data?
    }

    /// The response to a request.
    public struct Response: Sendable {
        /// The HTTP status.
        public let status: Int
        /// The header fields by their names in lower case.
        public let headers: [String: String]
        /// The body in parts, as they arrive.
        public let body: AsyncThrowingStream<Data, any Error>

        /// Creates a response whose body arrives in parts.
        public init(status: Int, headers: [String: String], body: AsyncThrowingStream<Data, any Error>) {
            self.status = status
            self.headers = Dictionary(headers.map { ($0.key.lowercased(), $0.value) }) { $1 }
            self.body = body
        }

        /// Creates a response with a complete body.
        public init(status: Int, headers: [String: String] = [:], body: Data = Data()) {
            self.init(
                status: status, headers: headers,
                body: AsyncThrowingStream { stream in
                    stream.yield(body)
                    stream.finish()
                })
        }

        /// Reads the whole body.
        /// - Throws: The transport's error, or `GatehouseError.unexpectedAnswer` if the body is larger than `limit`.
        func collected(upTo limit: Int) async throws -> Data {
            var whole = Data()
            for try await part in body {
                whole.append(part)
                guard whole.count <= limit else { throw GatehouseError.unexpectedAnswer(status: status) }
            }
            // A cancelled task ends the stream without an error.
            try Task.checkCancellation()
            return whole
        }
    }
}

extension GatehouseClient.Request: CustomStringConvertible, CustomReflectable {
    /// The method and the URL.
    public var description: String { "\(method) \(url.absoluteString)" }
    /// A mirror without the headers and the body.
    public var customMirror: Mirror { Mirror(self, children: ["method": method, "url": url]) }
}
