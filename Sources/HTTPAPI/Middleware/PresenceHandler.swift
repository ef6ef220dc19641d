internal import Accounts
package import NIOCore

/// Notices that a client hangs up while its request is being answered, which Hummingbird does not tell a handler.
///
/// A client that only ends its own side of the connection looks no different until something is sent to it, and is
/// taken for gone too, as by other servers (nginx's `proxy_ignore_client_abort`, Go's `Request.Context`).
package final class PresenceHandler: ChannelInboundHandler, RemovableChannelHandler, Sendable {
    package typealias InboundIn = NIOAny

    fileprivate let connection = ClientConnection()

    package init() {}

    package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event as? ChannelEvent == .inputClosed { connection.close() }
        context.fireUserInboundEventTriggered(event)
    }

    package func channelInactive(context: ChannelHandlerContext) {
        connection.close()
        context.fireChannelInactive()
    }
}

extension Channel {
    /// Whether the client at the other end is still there; `nil` where nobody watches that.
    func clientConnection() async -> ClientConnection? {
        try? await pipeline.handler(type: PresenceHandler.self).get().connection
    }
}
