package import NIOCore
package import NIOHTTPTypes

/// Closes the connection of a client whose request has not arrived in full within a time.
///
/// With HTTP/2 that is the request's own stream. The idle timeout alone would let a client send a byte a minute.
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

    /// Most requests have arrived in full by then, and need no timer.
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
