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

/// Closes the channel of a client that does not send a request, or does not read a response, within a time limit.
///
/// With HTTP/1 the channel is the connection, with HTTP/2 it is the request's own stream. The idle timeout alone would
/// let a client send one byte a minute, and does not run while a response is being written.
package final class TransferDeadlineHandler: ChannelInboundHandler, RemovableChannelHandler {
    package typealias InboundIn = HTTPRequestPart

    private var isArriving = false
    private var arrival: ClosingTimer
    private var departure: ClosingTimer

    /// `limit` is for a whole request, and for each time that the client lets the send buffer stay full.
    package init(limit: TimeAmount) {
        arrival = ClosingTimer(limit: limit)
        departure = ClosingTimer(limit: limit)
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head: isArriving = true
        case .body: break
        case .end:
            isArriving = false
            arrival.cancel()
        }
        context.fireChannelRead(data)
    }

    /// Starts the timer only if the request is still incomplete after a read, because most requests arrive in one read
    /// and need no timer.
    package func channelReadComplete(context: ChannelHandlerContext) {
        if isArriving { arrival.start(for: context.channel) }
        context.fireChannelReadComplete()
    }

    package func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable { departure.cancel() } else { departure.start(for: context.channel) }
        context.fireChannelWritabilityChanged()
    }

    package func channelInactive(context: ChannelHandlerContext) {
        cancel()
        context.fireChannelInactive()
    }

    package func handlerRemoved(context: ChannelHandlerContext) {
        cancel()
    }

    private func cancel() {
        arrival.cancel()
        departure.cancel()
    }
}

/// A timer that closes a channel.
private struct ClosingTimer {
    private let limit: TimeAmount
    private var task: Scheduled<Void>?

    init(limit: TimeAmount) {
        self.limit = limit
    }

    /// Has no effect while the timer runs.
    mutating func start(for channel: any Channel) {
        guard task == nil else { return }
        task = channel.eventLoop.scheduleTask(in: limit) { channel.close(promise: nil) }
    }

    mutating func cancel() {
        task?.cancel()
        task = nil
    }
}
