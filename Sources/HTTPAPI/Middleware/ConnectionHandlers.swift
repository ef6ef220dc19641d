internal import Accounts
package import NIOCore
package import NIOHTTPTypes

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

/// Closes the channel of a request that has not arrived in full within a time limit.
///
/// With HTTP/1 the channel is the connection, with HTTP/2 it is the request's own stream. The idle timeout alone would
/// let a client send one byte a minute.
package final class BodyDeadlineHandler: ChannelInboundHandler, RemovableChannelHandler {
    package typealias InboundIn = HTTPRequestPart

    private let limit: TimeAmount
    private var isArriving = false
    private var deadline: Scheduled<Void>?

    package init(limit: TimeAmount) {
        self.limit = limit
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head: isArriving = true
        case .body: break
        case .end:
            isArriving = false
            cancel()
        }
        context.fireChannelRead(data)
    }

    /// Starts the timer only if the request is still incomplete after a read, because most requests arrive in one read
    /// and need no timer.
    package func channelReadComplete(context: ChannelHandlerContext) {
        if isArriving, deadline == nil {
            let channel = context.channel
            deadline = context.eventLoop.scheduleTask(in: limit) { channel.close(promise: nil) }
        }
        context.fireChannelReadComplete()
    }

    package func channelInactive(context: ChannelHandlerContext) {
        cancel()
        context.fireChannelInactive()
    }

    package func handlerRemoved(context: ChannelHandlerContext) {
        cancel()
    }

    private func cancel() {
        deadline?.cancel()
        deadline = nil
    }
}
