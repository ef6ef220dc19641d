import Foundation

@testable import GatehouseClient

/// A server without a network: it opens one session, and answers the next requests of a path as a test says.
final class ScriptedTransport: GatehouseClient.Transport {
    private struct State {
        var sent: [String] = []
        var refreshTokens: [String] = []
        var answers: [String: [GatehouseClient.Response]] = [:]
        var interruption: (path: String, body: @Sendable () async throws -> Void)?
    }

    private let state = Locked(State())

    /// The paths that were requested, below the API.
    var sent: [String] { state.withLock { $0.sent } }
    /// The refresh tokens that were sent.
    var refreshTokens: [String] { state.withLock { $0.refreshTokens } }

    func next(_ path: String, _ answers: GatehouseClient.Response...) {
        state.withLock { $0.answers[path, default: []] += answers }
    }

    /// Runs the body once, before the answer to the next request of the path.
    func interrupt(_ path: String, _ body: @escaping @Sendable () async throws -> Void) {
        state.withLock { $0.interruption = (path, body) }
    }

    func send(_ request: GatehouseClient.Request) async throws -> GatehouseClient.Response {
        let path = request.url.path.components(separatedBy: "/api/v1").last ?? ""
        let body = try request.body.map { try JSONDecoder().decode([String: GatehouseClient.JSON].self, from: $0) }
        let interruption = state.withLock { state in
            state.sent.append(path)
            if let token = body?["refreshToken"]?.string { state.refreshTokens.append(token) }
            defer { if state.interruption?.path == path { state.interruption = nil } }
            return state.interruption.flatMap { $0.path == path ? $0.body : nil }
        }
        try await interruption?()
        let answer = state.withLock { state -> GatehouseClient.Response? in
            guard state.answers[path]?.isEmpty == false else { return nil }
            return state.answers[path]?.removeFirst()
        }
        return answer ?? Self.session(count: sent.count)
    }

    /// The answer to a sign-in, a refresh and everything else; by default an access token's life is over at once.
    static func session(
        count: Int, uid: String = "u", providerUid: String = "001", expiresIn: Int = 0
    ) -> GatehouseClient.Response {
        let body = """
            {"accessToken":"a\(count)","expiresIn":\(expiresIn),"refreshToken":"r\(count)","tokenType":"Bearer",
            "user":\(user(uid: uid)),
            "auth":{"uid":"\(uid)","provider":"apple","providerUid":"\(providerUid)","createdAt":1767225600,
            "expires":1767229200}}
            """
        return GatehouseClient.Response(status: 200, body: Data(body.utf8))
    }

    /// The answer to a change of the account's name.
    static func account(displayName: String) -> GatehouseClient.Response {
        GatehouseClient.Response(status: 200, body: Data(user(displayName: #""\#(displayName)""#).utf8))
    }

    /// A refusal with a code.
    static func refusal(_ status: Int, _ code: String) -> GatehouseClient.Response {
        let body = Data(#"{"error":{"code":"\#(code)","message":"The session has ended"}}"#.utf8)
        return GatehouseClient.Response(status: status, body: body)
    }

    private static func user(uid: String = "u", displayName: String = "null") -> String {
        """
        {"id":"\(uid)","email":null,"emailVerified":false,"phone":null,"phoneVerified":false,
        "displayName":\(displayName),"isAnonymous":false,"authProviders":["apple"],"metadata":{},
        "createdAt":"2026-01-01T00:00:00Z","updatedAt":"2026-01-01T00:00:00Z"}
        """
    }
}
