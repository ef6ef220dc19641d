import Foundation
import GatehouseTesting
import Hummingbird
import Logging
import NIOCore
import ProviderKit
import Synchronization

/// A local OpenID provider on a free port of this process.
///
/// The server fetches its keys once.
struct IdentityProvider: Sendable {
    static let clientID = "bench"

    let issuer: String
    private let authority: TestAuthority
    private let server: Task<Void, any Error>

    static func start() async throws -> IdentityProvider {
        let authority = try TestAuthority(.es256)
        let port = Port()
        let router = Router()
        router.get("/.well-known/openid-configuration") { _, _ in
            let issuer = "http://127.0.0.1:\(await port.number)"
            return try response([
                "issuer": .string(issuer), "authorization_endpoint": .string(issuer + "/authorize"),
                "token_endpoint": .string(issuer + "/token"), "jwks_uri": .string(issuer + "/keys"),
                "id_token_signing_alg_values_supported": ["ES256"],
            ])
        }
        router.get("/keys") { _, _ in try response(authority.keySet) }
        var logger = Logger(label: "identity-provider")
        logger.logLevel = .error
        let application = Application(
            responder: router.buildResponder(),
            configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in await port.set(channel.localAddress?.port ?? 0) }, logger: logger)
        // The server runs as long as the process, because no scope lives as long as the stage.
        let server = Task { try await application.run() }
        return IdentityProvider(
            issuer: "http://127.0.0.1:\(await port.number)", authority: authority, server: server)
    }

    func stop() {
        server.cancel()
    }

    /// Makes ID tokens of people who have not signed in yet.
    func newPeople(_ count: Int) throws -> [String] {
        let now = Int64(Date().timeIntervalSince1970)
        return try (0..<count).map { _ in
            try authority.token([
                "iss": .string(issuer), "aud": .string(Self.clientID), "sub": .string(UUID().uuidString),
                "iat": .integer(now), "exp": .integer(now + 600),
            ])
        }
    }

    private static func response(_ body: JSONValue) throws -> Response {
        Response(
            status: .ok, headers: [.contentType: "application/json"],
            body: .init(byteBuffer: ByteBuffer(bytes: try JSONEncoder().encode(body))))
    }
}

/// A port that can be awaited before it is known.
private actor Port {
    private var known: Int?
    private var waiters: [CheckedContinuation<Int, Never>] = []

    var number: Int {
        get async {
            if let known { return known }
            return await withCheckedContinuation { waiters.append($0) }
        }
    }

    func set(_ port: Int) {
        known = port
        for waiter in waiters { waiter.resume(returning: port) }
        waiters = []
    }
}
