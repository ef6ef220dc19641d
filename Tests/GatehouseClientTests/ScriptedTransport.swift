import Foundation

@testable import GatehouseClient

/// A server without a network: it opens one session, and answers the next requests of a path as a test says.
final class ScriptedTransport: GatehouseClient.Transport {
    private let state = Locked<(sent: [String], answers: [String: [GatehouseClient.Response]])>(([], [:]))

    /// The paths that were requested, below the API.
    var sent: [String] { state.withLock { $0.sent } }

    func next(_ path: String, _ answers: GatehouseClient.Response...) {
        state.withLock { $0.answers[path, default: []] += answers }
    }

    func send(_ request: GatehouseClient.Request) async throws -> GatehouseClient.Response {
        let path = request.url.path.components(separatedBy: "/api/v1").last ?? ""
        let answer = state.withLock { state -> GatehouseClient.Response? in
            state.sent.append(path)
            guard state.answers[path]?.isEmpty == false else { return nil }
            return state.answers[path]?.removeFirst()
        }
        return answer ?? Self.session(count: sent.count)
    }

    /// The answer to a sign-in, a refresh and everything else; an access token's life is over at once.
    static func session(count: Int, providerUid: String = "001") -> GatehouseClient.Response {
        let body = """
            {"accessToken":"a\(count)","expiresIn":0,"refreshToken":"r\(count)","tokenType":"Bearer",
            "user":{"id":"u","email":null,"emailVerified":false,"phone":null,"phoneVerified":false,"displayName":null,
            "isAnonymous":false,"authProviders":["apple"],"metadata":{},"createdAt":"2026-01-01T00:00:00Z",
            "updatedAt":"2026-01-01T00:00:00Z"},
            "auth":{"uid":"u","provider":"apple","providerUid":"\(providerUid)","createdAt":1767225600,
            "expires":1767229200}}
            """
        return GatehouseClient.Response(status: 200, body: Data(body.utf8))
    }
}
