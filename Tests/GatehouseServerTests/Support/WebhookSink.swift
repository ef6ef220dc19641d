import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import ProviderKit
import Synchronization

/// A receiver of webhooks on its own port, with scripted responses.
final class WebhookSink: Sendable {
    enum Reaction: Sendable {
        case status(Int)
        case redirect(to: String)
        /// Sends no response until `release()`.
        case hang
    }

    /// One received POST.
    struct Post: Sendable {
        let headers: [String: String]
        let body: [UInt8]

        var id: String { headers["webhook-id"] ?? "" }
        var json: JSONValue { (try? JSONDecoder().decode(JSONValue.self, from: Data(body))) ?? .null }
        var kind: String { json["type"].string ?? "" }
        var data: JSONValue { json["data"] }

        /// Whether one of the signatures is valid, computed only from the received bytes.
        func isSigned(with secret: String) -> Bool {
            guard let key = Data(base64Encoded: String(secret.dropFirst("whsec_".count))),
                let timestamp = headers["webhook-timestamp"], let signatures = headers["webhook-signature"]
            else { return false }
            let signed = Data("\(id).\(timestamp).".utf8) + Data(body)
            return signatures.split(separator: " ").contains { signature in
                guard signature.hasPrefix("v1,"), let code = Data(base64Encoded: String(signature.dropFirst(3)))
                else { return false }
                return HMAC<SHA256>.isValidAuthenticationCode(
                    code, authenticating: signed, using: SymmetricKey(data: key))
            }
        }
    }

    typealias Script = @Sendable (_ post: Post, _ number: Int) -> Reaction

    static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

    private struct State {
        var posts: [Post] = []
        var isReleased = false
        var hanging: [CheckedContinuation<Void, Never>] = []
    }

    private let script: Script
    private let state = Mutex(State())
    private let openPort = Mutex(0)

    private init(script: @escaping Script) {
        self.script = script
    }

    var url: String { "http://127.0.0.1:\(openPort.withLock { $0 })/hooks" }
    var posts: [Post] { state.withLock { $0.posts } }

    func posts(of kind: String) -> [Post] { posts.filter { $0.kind == kind } }

    /// The entry for `webhooks:` in the configuration.
    func entry(_ events: String...) -> String {
        "{ url: \"\(url)\", secret: \(Self.secret), events: [\(events.joined(separator: ", "))] }"
    }

    /// Ends all hanging requests; later requests do not hang.
    func release() {
        let hanging = state.withLock { state in
            defer { state.hanging = [] }
            state.isReleased = true
            return state.hanging
        }
        for continuation in hanging { continuation.resume() }
    }

    /// Calls the script with the number of the POST, starting at 0.
    static func with<Output: Sendable>(
        _ script: @escaping Script = { _, _ in .status(204) },
        _ body: @Sendable @escaping (WebhookSink) async throws -> Output
    ) async throws -> Output {
        let sink = WebhookSink(script: script)
        return try await UpstreamServer.serve {
            try await sink.answer($0)
        } _: { port in
            sink.openPort.withLock { $0 = port }
            // Otherwise the server would wait for the hanging requests when it stops.
            defer { sink.release() }
            return try await body(sink)
        }
    }

    private func answer(_ request: Request) async throws -> Response {
        let body = try await request.body.collect(upTo: 1 << 20)
        let headers = request.headers.map { ($0.name.canonicalName, $0.value) }
        let post = Post(headers: Dictionary(headers) { first, _ in first }, body: Array(body.readableBytesView))
        let number = state.withLock { state in
            state.posts.append(post)
            return state.posts.count - 1
        }
        switch script(post, number) {
        case .status(let code):
            return Response(status: .init(code: code))
        case .redirect(let target):
            return Response(status: .temporaryRedirect, headers: [.location: target])
        case .hang:
            await withCheckedContinuation { continuation in
                let isReleased = state.withLock { state in
                    if !state.isReleased { state.hanging.append(continuation) }
                    return state.isReleased
                }
                if isReleased { continuation.resume() }
            }
            return Response(status: .noContent)
        }
    }
}
