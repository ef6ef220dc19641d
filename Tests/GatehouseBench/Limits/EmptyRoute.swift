import ArgumentParser
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore

/// The paths that the empty server answers.
enum EmptyRoute {
    static let bytes = "/bytes"
    static let encoded = "/encoded"
}

/// `gatehouse-bench empty-route`: a Hummingbird server with Gatehouse's settings and fixed responses, on a free port.
struct EmptyRouteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "empty-route", abstract: "What the bench compares with.", shouldDisplay: false)

    func run() async throws {
        let user = SampleUser()
        let json = ByteBuffer(bytes: try JSONEncoder().encode(user))
        let router = Router()
        router.get(RouterPath(EmptyRoute.bytes)) { _, _ in
            Response(
                status: .ok, headers: [.contentType: "application/json; charset=utf-8"], body: .init(byteBuffer: json))
        }
        router.get(RouterPath(EmptyRoute.encoded)) { _, _ in user }
        var logger = Logger(label: "empty-route")
        logger.logLevel = .info
        let application = Application(
            responder: router.buildResponder(),
            server: .http1(configuration: .init(idleTimeout: .seconds(60))),
            configuration: .init(address: .hostname("127.0.0.1", port: 0), serverName: "Gatehouse"),
            onServerRunning: { channel in
                // The text has the form of the server's log line, which `ServerProcess` looks for.
                progress("\"port\":\"\(channel.localAddress?.port ?? 0)\"")
            },
            logger: logger)
        try await application.runService()
    }
}

/// A response of 217 bytes of JSON.
private struct SampleUser: ResponseEncodable {
    var id = "01989d4e-7d6a-7c3b-9a52-0c8f5e1b2d34"
    var email = "person1@bench.example"
    var emailVerified = true
    var isAnonymous = false
    var authProviders = ["email"]
    var createdAt = "2026-01-31T12:00:00Z"
    var updatedAt = "2026-01-31T12:00:00Z"
}
