internal import Accounts
package import NIOCore

/// Closes the `ClientConnection` of a request when the client disconnects, which Hummingbird does not report.
///
/// A client that only closes its sending side is treated as disconnected too, as other servers do (nginx's
/// `proxy_ignore_client_abort`, Go's `Request.Context`), because the two cannot be distinguished without sending data.
package final class DisconnectHandler: ChannelInboundHandler, RemovableChannelHandler, Sendable {
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
    /// The connection to the client; `nil` if disconnects are not observed.
    func clientConnection() async -> ClientConnection? {
        try? await pipeline.handler(type: DisconnectHandler.self).get().connection
    }
}
