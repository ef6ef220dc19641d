import ProviderKit
import Synchronization

/// A network with scripted responses that records the requests.
final class ScriptedHTTP: HTTPFetching {
    typealias Script = @Sendable (FetchRequest) async throws -> FetchResponse

    private let script: Mutex<Script>
    private let log = Mutex<[FetchRequest]>([])

    /// Creates a network in which by default no URL answers.
    init(_ script: @escaping Script = { _ in throw ProviderError.unavailable }) {
        self.script = Mutex(script)
    }

    /// All requests, in order.
    var requests: [FetchRequest] { log.withLock { $0 } }

    /// Replaces the script.
    func answer(_ script: @escaping Script) {
        self.script.withLock { $0 = script }
    }

    /// Answers all further requests with this JSON.
    func answer(json: String, headers: [String: String] = [:], status: Int = 200) {
        answer { _ in FetchResponse(status: status, headers: headers, body: Array(json.utf8)) }
    }

    func fetch(_ request: FetchRequest) async throws -> FetchResponse {
        log.withLock { $0.append(request) }
        return try await script.withLock { $0 }(request)
    }
}
