public import ProviderKit

internal import Foundation
internal import Synchronization

/// A service behind a provider that responds according to a script, records requests, and can be made to fail.
public final class ScriptedService: HTTPFetching {
    /// Creates the response to a request.
    public typealias Answer = @Sendable (FetchRequest) -> FetchResponse

    /// How the service behaves.
    public enum Condition: String, Sendable, CaseIterable {
        /// The service responds according to its script.
        case working
        /// The service cannot be reached.
        case down
        /// Each response has the status 503.
        case failing
        /// Each response has the status 200 and an HTML page.
        case talkingHTML
        /// Each response has the status 200 and the body `{}`.
        case sayingNothing
        /// Each response has the status 200 and deeply nested JSON.
        case sayingTooMuch
    }

    private struct State {
        var answers: [String: Answer]
        var condition = Condition.working
        var requests: [FetchRequest] = []
    }

    private let state: Mutex<State>

    /// Creates a service with responses by URL without query; for other URLs the status is 404.
    public init(_ answers: [String: Answer] = [:]) { state = Mutex(State(answers: answers)) }

    /// How the service behaves at present.
    public var condition: Condition {
        get { state.withLock { $0.condition } }
        set { state.withLock { $0.condition = newValue } }
    }

    /// The requests received so far, oldest first.
    public var requests: [FetchRequest] { state.withLock { $0.requests } }

    /// Sets the response for a URL.
    public func answer(_ url: String, with answer: @escaping Answer) { state.withLock { $0.answers[url] = answer } }

    /// Responds according to the script and the condition.
    public func fetch(_ request: FetchRequest) async throws -> FetchResponse {
        let (condition, answer) = state.withLock { state in
            state.requests.append(request)
            return (state.condition, state.answers[String(request.url.prefix { $0 != "?" })])
        }
        switch condition {
        case .working: return answer?(request) ?? FetchResponse(status: 404, body: [])
        case .down: throw ProviderError.unavailable
        case .failing: return FetchResponse(status: 503, body: [])
        case .talkingHTML: return FetchResponse(status: 200, body: Array("<html><body>Welcome</body></html>".utf8))
        case .sayingNothing: return FetchResponse(status: 200, body: Array("{}".utf8))
        case .sayingTooMuch: return FetchResponse(status: 200, body: [UInt8](repeating: UInt8(ascii: "["), count: 9999))
        }
    }
}

extension FetchResponse {
    /// Creates a response with a JSON body.
    public static func json(_ value: JSONValue, status: Int = 200) -> FetchResponse {
        let body = (try? JSONEncoder().encode(value)).map(Array.init) ?? []
        return FetchResponse(status: status, headers: ["content-type": "application/json"], body: body)
    }
}
