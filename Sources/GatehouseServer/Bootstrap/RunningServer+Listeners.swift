internal import Delivery
internal import Foundation
internal import HTTPAPI
internal import Hummingbird
internal import Logging
internal import NIOCore
internal import ServiceLifecycle

extension RunningServer {
    /// How many connections the listener of the admin API accepts at once.
    private static let administrators = 64

    /// The listener of the API; `onRunning` is called with its port once it is open.
    func listener(
        transferDeadline: Duration, onRunning: @escaping @Sendable (_ port: Int) async -> Void
    ) throws -> any Service {
        let configuration = backend.configuration
        let (server, others) = (configuration.server, configuration.server.admin == nil ? 0 : Self.administrators)
        let application = Hummingbird.Application(
            responder: api.responder(),
            server: try server.tls.httpServer(transferDeadline: transferDeadline),
            configuration: .init(
                address: .hostname(server.host, port: server.port), serverName: "Gatehouse",
                availableConnectionsDelegate: .maximum(
                    FileDescriptors.clients(
                        besides: configuration.database.connections + others,
                        webhooks: configuration.webhooks.count + backend.webhooks.logoutLanes.count),
                    logger: backend.quietLogger)),
            onServerRunning: { await onRunning($0.localAddress?.port ?? server.port) },
            logger: backend.logger)
        return Listening(service: application, host: server.host, port: server.port, setting: "server.host")
    }

    /// The listener of `server.admin`, if there is one.
    func administrationListener(transferDeadline: Duration) throws -> [any Service] {
        guard let listener = backend.configuration.server.admin else { return [] }
        let application = Hummingbird.Application(
            responder: api.responder(at: .administration(endsTLS: listener.tls != nil)),
            server: try listener.tls.httpServer(transferDeadline: transferDeadline),
            configuration: .init(
                address: .hostname(listener.host, port: listener.port), serverName: "Gatehouse",
                availableConnectionsDelegate: .maximum(Self.administrators, logger: backend.quietLogger)),
            onServerRunning: { [logger = backend.logger] channel in
                logger.notice(
                    "the admin API is served",
                    metadata: ["host": "\(listener.host)", "port": "\(channel.localAddress?.port ?? listener.port)"])
            },
            logger: backend.logger)
        return [
            Listening(service: application, host: listener.host, port: listener.port, setting: "server.admin.host")
        ]
    }
}

/// A listener whose errors say which address it could not open.
private struct Listening: Service {
    let service: any Service
    let host: String
    let port: Int
    /// The name of the setting that has the host.
    let setting: String

    func run() async throws {
        do {
            try await service.run()
        } catch is SocketAddressError.UnknownHost {
            throw ServerError.cannotListen(host: host, port: port, reason: "no address is known for `\(setting)`")
        } catch let error as IOError {
            guard error.errnoCode != EADDRINUSE else { throw ServerError.addressTaken(host: host, port: port) }
            throw ServerError.cannotListen(
                host: host, port: port, reason: String(cString: strerror(error.errnoCode)))
        }
    }
}
