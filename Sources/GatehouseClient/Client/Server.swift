internal import Foundation

/// Sends calls to one application of a server, and repeats those whose `repetition` allows it.
struct Server: Sendable {
    let address: ServerAddress
    let options: GatehouseClient.Options

    /// The largest answer that is read into memory, in bytes.
    private static let largestAnswer = 4 << 20
    /// How many times a repeatable call is sent at most.
    private static let attempts = 4

    /// Sends a call; repeats it after a network failure, a 5xx or a `Retry-After`, if its `repetition` allows that and
    /// `isCurrent` still holds.
    func answer(
        to call: Call, bearer: GatehouseClient.Secret? = nil,
        repeatedWhile isCurrent: @Sendable () async -> Bool = { true }
    ) async throws(GatehouseError) -> Answer {
        var attempt = 1
        while true {
            do {
                return try await once(call, bearer: bearer)
            } catch {
                guard attempt < Self.attempts, let pause = pause(after: error, attempt: attempt, of: call) else {
                    throw error
                }
                attempt += 1
                do { try await Task.sleep(for: pause) } catch { throw .cancelled }
                guard await isCurrent() else { throw error }
            }
        }
    }

    /// The pause before the next attempt; `nil` if the error is final or asks for a longer pause than is allowed.
    private func pause(after error: GatehouseError, attempt: Int, of call: Call) -> Duration? {
        guard call.repetition != .never else { return nil }
        let usual = options.firstPause * (1 << (attempt - 1))
        switch error {
        case .network(.timedOut): return call.repetition == .evenIfLate && attempt == 1 ? usual : nil
        case .network(.insecure): return nil
        case .network: return usual
        case .unexpectedAnswer(let status, let asked): return pause(asked, after: status, orElse: usual)
        case .refused(let refusal): return pause(refusal.retryAfter, after: refusal.status, orElse: usual)
        case .storage, .signedOut, .cancelled: return nil
        }
    }

    private func pause(_ asked: Duration?, after status: Int, orElse usual: Duration) -> Duration? {
        guard let asked else { return status >= 500 ? usual : nil }
        return asked <= options.longestWait ? asked : nil
    }

    /// Sends a call once and reads the whole answer.
    func once(_ call: Call, bearer: GatehouseClient.Secret?) async throws(GatehouseError) -> Answer {
        let request = try request(for: call, bearer: bearer)
        let askedAt = ContinuousClock.now
        let transport = options.transport
        let (response, body) = try await within(options.timeout) {
            let response = try await transport.send(request)
            return (response, try await response.collected(upTo: Self.largestAnswer))
        }
        guard 200..<300 ~= response.status else {
            throw GatehouseError(status: response.status, headers: response.headers, body: body)
        }
        return Answer(status: response.status, headers: response.headers, body: body, askedAt: askedAt)
    }

    /// Sends a call once and returns the answer before its body has arrived.
    func stream(
        _ call: Call, bearer: GatehouseClient.Secret?
    ) async throws(GatehouseError) -> GatehouseClient.Response {
        let request = try request(for: call, bearer: bearer)
        let transport = options.transport
        let response = try await within(options.timeout) { try await transport.send(request) }
        if 200..<300 ~= response.status { return response }
        let body = try await within(options.timeout) { try await response.collected(upTo: Self.largestAnswer) }
        throw GatehouseError(status: response.status, headers: response.headers, body: body)
    }

    private func request(
        for call: Call, bearer: GatehouseClient.Secret?
    ) throws(GatehouseError) -> GatehouseClient.Request {
        var headers = ["Accept": "application/json"]
        headers["X-Device-Name"] = options.deviceName
        headers["Authorization"] = bearer.map { "Bearer \($0.value)" }
        var body: Data?
        if let members = call.body {
            headers["Content-Type"] = "application/json"
            do { body = try JSONEncoder().encode(members) } catch { throw .unexpectedAnswer(status: 0) }
        }
        return GatehouseClient.Request(
            method: call.method, url: address.url(of: call.path), headers: headers, body: body)
    }
}

/// Runs the body, and cancels it when the time limit is over.
/// - Throws: `network(.timedOut)` if the time is over, else the body's error.
func within<Value: Sendable>(
    _ limit: Duration, _ body: @escaping @Sendable () async throws -> Value
) async throws(GatehouseError) -> Value {
    do {
        return try await withThrowingTaskGroup(of: Value.self) { group in
            defer { group.cancelAll() }
            // Two tasks: the body and the timer. The first that ends cancels the other.
            group.addTask { try await body() }
            group.addTask {
                // The time during which the device sleeps does not count.
                try await Task.sleep(for: limit, clock: .suspending)
                throw GatehouseError.network(.timedOut)
            }
            guard let first = try await group.next() else { throw CancellationError() }
            return first
        }
    } catch {
        throw GatehouseError(ofTransport: error)
    }
}
