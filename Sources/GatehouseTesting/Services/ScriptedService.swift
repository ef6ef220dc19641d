public import ProviderKit

internal import Foundation
internal import Synchronization

/// A service behind a provider that answers from a script, remembers what it was asked, and fails on demand.
public final class ScriptedService: HTTPFetching {
    /// What a service says to a request.
    public typealias Answer = @Sendable (FetchRequest) -> FetchResponse

    /// How the service is.
    public enum Condition: String, Sendable, CaseIterable {
        /// It answers by its script.
        case working
        /// Nobody is there.
        case down
        /// Every answer is a 503.
        case failing
        /// Every answer is a 200 whose body is a page.
        case talkingHTML
        /// Every answer is a 200 whose body is `{}`.
        case sayingNothing
        /// Every answer is a 200 whose body is deeply nested.
        case sayingTooMuch
    }

    private struct State {
        var answers: [String: Answer]
        var condition = Condition.working
        var requests: [FetchRequest] = []
    }

    private let state: Mutex<State>

    /// Answers by URL, without its query; any other URL is a 404.
    public init(_ answers: [String: Answer] = [:]) {
        state = Mutex(State(answers: answers))
    }

    /// How the service is.
    public var condition: Condition {
        get { state.withLock { $0.condition } }
        set { state.withLock { $0.condition = newValue } }
    }

    /// What it was asked, oldest first.
    public var requests: [FetchRequest] { state.withLock { $0.requests } }

    /// Changes what it says at a URL.
    public func answer(_ url: String, with answer: @escaping Answer) {
        state.withLock { $0.answers[url] = answer }
    }

    /// Answers as its script and its condition say.
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
    /// An answer of JSON.
    public static func json(_ value: JSONValue, status: Int = 200) -> FetchResponse {
        let body = (try? JSONEncoder().encode(value)).map(Array.init) ?? []
        return FetchResponse(status: status, headers: ["content-type": "application/json"], body: body)
    }
}
