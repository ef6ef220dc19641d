internal import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// Sends requests with `URLSession`, without cookies, cache, stored credentials or redirects.
public final class URLSessionTransport: GatehouseClient.Transport {
    /// The default transport of all clients.
    public static let shared = URLSessionTransport()

    private let line = Line()

    /// Creates a transport with its own connections.
    public init() {}

    /// Sends a request and returns the response as soon as its head has arrived.
    /// - Throws: `URLError` or `CancellationError`.
    public func send(_ request: GatehouseClient.Request) async throws -> GatehouseClient.Response {
        var sent = URLRequest(url: request.url)
        sent.httpMethod = request.method
        sent.httpBody = request.body
        for (name, value) in request.headers { sent.setValue(value, forHTTPHeaderField: name) }
        #if canImport(FoundationNetworking)
            // A request with a body gets its own session, and so a new connection. If a reused connection ends without
            // a response, `FoundationNetworking` repeats the request without its body, or fails.
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
        // A call has its own time-out; this one ends the body of a download that stalls.
        configuration.timeoutIntervalForRequest = 600
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
                // If the cancellation handler ran before `begin`, it found no exchange to end.
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

/// The responses that a session waits for, by the id of their task.
///
/// It is `@unchecked Sendable`, because its only stored property is behind a lock.
private final class Exchanges: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    private struct Exchange: Sendable {
        /// Receives the head of the response; `nil` once it has arrived.
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

    /// Ends an exchange, if it is still open; without an error its response is complete.
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

    /// Returns the redirect as the response, so that the access token is not sent to another server.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }
}
