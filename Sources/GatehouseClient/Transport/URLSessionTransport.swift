internal import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// Sends requests with `URLSession`, without cookies, cache, stored credentials and redirects.
public final class URLSessionTransport: GatehouseClient.Transport {
    /// The transport of all clients that have none of their own.
    public static let shared = URLSessionTransport()

    private let line = Line()

    /// Creates a transport with connections of its own.
    public init() {}

    /// Sends a request and returns the answer as soon as its head has arrived.
    /// - Throws: `URLError` or `CancellationError`.
    public func send(_ request: GatehouseClient.Request) async throws -> GatehouseClient.Response {
        var sent = URLRequest(url: request.url)
        sent.httpMethod = request.method
        sent.httpBody = request.body
        for (name, value) in request.headers { sent.setValue(value, forHTTPHeaderField: name) }
        #if canImport(FoundationNetworking)
            // A request with a body has a session, and so a connection, of its own: if a connection that was used
            // before ends without an answer, the library below repeats the request without its body, or gives up.
            if request.body != nil {
                sent.setValue("close", forHTTPHeaderField: "Connection")
                return try await Line().send(sent)
            }
        #endif
        return try await line.send(sent)
    }
}

/// A session with its delegate.
private final class Line: Sendable {
    private let session: URLSession
    private let exchanges = Exchanges()

    init() {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.httpCookieAcceptPolicy = .never
        configuration.urlCache = nil
        configuration.urlCredentialStorage = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        session = URLSession(configuration: configuration, delegate: exchanges, delegateQueue: nil)
    }

    deinit { session.finishTasksAndInvalidate() }

    func send(_ request: URLRequest) async throws -> GatehouseClient.Response {
        try Task.checkCancellation()
        let task = session.dataTask(with: request)
        let id = task.taskIdentifier
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { head in
                exchanges.begin(task, head)
                // The handler below found nothing if it ran before.
                if Task.isCancelled { exchanges.end(id, with: CancellationError()) }
                task.resume()
                if Task.isCancelled { task.cancel() }
            }
        } onCancel: {
            exchanges.end(id, with: CancellationError())
            task.cancel()
        }
    }
}

/// The answers that a session is waiting for, by the number of their task.
///
/// Its only stored property is behind a lock.
private final class Exchanges: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    private struct Exchange: Sendable {
        /// Where the head of the answer goes; `nil` once it has arrived.
        var head: CheckedContinuation<GatehouseClient.Response, any Error>?
        let body: AsyncThrowingStream<Data, any Error>
        let parts: AsyncThrowingStream<Data, any Error>.Continuation
    }

    private let open = Locked<[Int: Exchange]>([:])

    func begin(_ task: URLSessionTask, _ head: CheckedContinuation<GatehouseClient.Response, any Error>) {
        let (body, parts) = AsyncThrowingStream.makeStream(of: Data.self)
        parts.onTermination = { reason in if case .cancelled = reason { task.cancel() } }
        open.withLock { $0[task.taskIdentifier] = Exchange(head: head, body: body, parts: parts) }
    }

    /// Ends an exchange, if it is still open; without an error its answer is complete.
    func end(_ id: Int, with error: (any Error)?) {
        guard let exchange = open.withLock({ $0.removeValue(forKey: id) }) else { return }
        exchange.parts.finish(throwing: error)
        exchange.head?.resume(throwing: error ?? URLError(.badServerResponse))
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        guard let response = response as? HTTPURLResponse else {
            completionHandler(.cancel)
            return
        }
        var headers: [String: String] = [:]
        for (name, value) in response.allHeaderFields {
            if let name = name as? String, let value = value as? String { headers[name] = value }
        }
        let waiting = open.withLock { open in
            let exchange = open[dataTask.taskIdentifier]
            open[dataTask.taskIdentifier]?.head = nil
            return exchange
        }
        if let waiting {
            let answer = GatehouseClient.Response(
                status: response.statusCode, headers: headers, body: waiting.body)
            waiting.head?.resume(returning: answer)
        }
        completionHandler(waiting == nil ? .cancel : .allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        open.withLock { $0[dataTask.taskIdentifier] }?.parts.yield(data)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        end(task.taskIdentifier, with: error)
    }

    /// Returns the redirect itself, so that the bearer goes to no other place.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }
}
