import Crypto
import Foundation
import ProviderKit
import Synchronization

/// A service that answers from a table of URLs, records the requests, and signs ID tokens.
final class ScriptedService: HTTPFetching {
    struct Answer: Sendable {
        var status = 200
        var headers: [String: String] = [:]
        var body: JSONValue
    }

    private struct State {
        var answers: [String: Answer] = [:]
        var requests: [FetchRequest] = []
        var isDown = false
        var isHanging = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())
    private let key = P256.Signing.PrivateKey()

    var isDown: Bool {
        get { state.withLock(\.isDown) }
        set { state.withLock { $0.isDown = newValue } }
    }

    /// Whether the service accepts requests and answers them only after this is `false` again.
    var isHanging: Bool {
        get { state.withLock(\.isHanging) }
        set {
            let waiting = state.withLock { state in
                state.isHanging = newValue
                guard !newValue else { return [CheckedContinuation<Void, Never>]() }
                defer { state.waiting = [] }
                return state.waiting
            }
            for request in waiting { request.resume() }
        }
    }

    var requests: [FetchRequest] { state.withLock(\.requests) }

    func requests(to url: String) -> [FetchRequest] { requests.filter { $0.url == url } }

    /// Sets the response of a URL.
    func answer(_ url: String, status: Int = 200, headers: [String: String] = [:], _ body: JSONValue) {
        state.withLock { $0.answers[url] = Answer(status: status, headers: headers, body: body) }
    }

    func fetch(_ request: FetchRequest) async throws -> FetchResponse {
        state.withLock { $0.requests.append(request) }
        await withCheckedContinuation { waiting in
            let isHanging = state.withLock { state in
                if state.isHanging { state.waiting.append(waiting) }
                return state.isHanging
            }
            if !isHanging { waiting.resume() }
        }
        let answer = state.withLock { $0.isDown ? nil : $0.answers[request.url] }
        // Other tasks may request the same URL in the meantime.
        await Task.yield()
        guard let answer else { throw ProviderError.unavailable }
        return FetchResponse(status: answer.status, headers: answer.headers, body: try [UInt8](answer.body.data))
    }

    /// Returns an ID token with these claims.
    func sign(_ claims: JSONValue, algorithm: String = "ES256") throws -> String {
        let header: JSONValue = ["alg": .string(algorithm), "kid": "k1", "typ": "JWT"]
        let content = try "\(header.data.base64URL).\(claims.data.base64URL)"
        return "\(content).\(try key.signature(for: Data(content.utf8)).rawRepresentation.base64URL)"
    }

    var keys: JSONValue {
        let point = key.publicKey.rawRepresentation
        return [
            "keys": [
                [
                    "kty": "EC", "crv": "P-256", "kid": "k1", "use": "sig", "alg": "ES256",
                    "x": .string(point.prefix(32).base64URL), "y": .string(point.suffix(32).base64URL),
                ]
            ]
        ]
    }
}

extension Data {
    var base64URL: String {
        base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    init?(base64URL text: Substring) {
        let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        self.init(base64Encoded: text.replacing("-", with: "+").replacing("_", with: "/") + padding)
    }
}
