import Foundation
import GatehouseClient
import Synchronization

/// Passes the requests of a client on, and makes the network or the server fail where a test wants it.
final class FailingTransport: GatehouseClient.Transport {
    enum Failure: Sendable {
        /// The server never gets the request.
        case lostRequest
        /// The server answers, and the answer is lost.
        case lostAnswer
        /// The answer comes later.
        case late(Duration)
        /// The server answers at once, and its answer arrives later.
        case lateAnswer(Duration)
        /// Another answer comes instead. It is created for each request, because its body can be read only once.
        case answer(@autoclosure @Sendable () -> GatehouseClient.Response)
        /// The body of the answer is changed.
        case changed(@Sendable (String) -> String)
    }

    struct Sent: Sendable {
        let method: String
        let url: URL
        let body: String

        var path: String { url.path.components(separatedBy: "/api/v1").last ?? "" }
    }

    private struct State {
        var sent: [Sent] = []
        var failures: [String: [Failure]] = [:]
        var always: [String: Failure] = [:]
    }

    private let state = Mutex(State())

    /// Makes the next requests of a path fail in this order.
    func next(_ path: String, _ failures: Failure...) {
        state.withLock { $0.failures[path, default: []] += failures }
    }

    /// Makes all requests of a path fail, until it is `nil` again.
    func always(_ path: String, _ failure: Failure?) {
        state.withLock { $0.always[path] = failure }
    }

    var sent: [Sent] { state.withLock { $0.sent } }

    func count(_ path: String) -> Int { sent.count { $0.path == path } }

    func send(_ request: GatehouseClient.Request) async throws -> GatehouseClient.Response {
        let body = String(decoding: request.body ?? Data(), as: UTF8.self)
        let sent = Sent(method: request.method, url: request.url, body: body)
        let failure = state.withLock { state in
            state.sent.append(sent)
            if let always = state.always[sent.path] { return Optional(always) }
            guard state.failures[sent.path]?.isEmpty == false else { return nil }
            return state.failures[sent.path]?.removeFirst()
        }
        switch failure {
        case nil: return try await URLSessionTransport.shared.send(request)
        case .lostRequest: throw GatehouseError.NetworkFailure.offline
        case .lostAnswer:
            let answer = try await URLSessionTransport.shared.send(request)
            for try await _ in answer.body {}
            throw GatehouseError.NetworkFailure.connectionLost
        case .lateAnswer(let time):
            let answer = try await URLSessionTransport.shared.send(request)
            try await Task.sleep(for: time)
            return answer
        case .late(let time):
            try await Task.sleep(for: time)
            return try await URLSessionTransport.shared.send(request)
        case .answer(let answer): return answer()
        case .changed(let change):
            let answer = try await URLSessionTransport.shared.send(request)
            var body = Data()
            for try await part in answer.body { body.append(part) }
            let text = change(String(decoding: body, as: UTF8.self))
            return GatehouseClient.Response(status: answer.status, headers: answer.headers, body: Data(text.utf8))
        }
    }
}
