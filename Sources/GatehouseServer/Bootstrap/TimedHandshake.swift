internal import HummingbirdCore
internal import HummingbirdHTTP2
internal import Logging
internal import NIOCore
internal import NIOSSL
internal import NIOTLS

/// A TLS connection that is closed if the handshake does not end within a time limit, and with HTTP/2 if nothing arrives
/// for three times as long.
///
/// Hummingbird's limits begin after the handshake. It closes an idle HTTP/2 connection, and each one when the server
/// stops, only after the client has acknowledged a PING, so that a client that is gone would keep its connection.
struct TimedHandshake: ServerChildChannel {
    let base: HTTP2UpgradeChannel
    let limit: TimeAmount

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTP2UpgradeChannel.Value> {
        let timer = channel.eventLoop.scheduleTask(in: limit) { channel.close(promise: nil) }
        channel.closeFuture.whenComplete { _ in timer.cancel() }
        return base.setup(channel: channel, logger: logger).flatMapThrowing { value in
            let pipeline = channel.pipeline.syncOperations
            let tls = try pipeline.handler(type: NIOSSLServerHandler.self)
            try pipeline.addHandler(HandshakeHandler(timer: timer, silence: limit * 3), position: .after(tls))
            return value
        }
    }

    func handle(value: HTTP2UpgradeChannel.Value, logger: Logger) async {
        await base.handle(value: value, logger: logger)
    }
}

/// Cancels the timer when the handshake has ended, and closes a silent HTTP/2 connection.
private final class HandshakeHandler: ChannelInboundHandler {
    typealias InboundIn = NIOAny

    private let timer: Scheduled<Void>
    private let silence: TimeAmount

    init(timer: Scheduled<Void>, silence: TimeAmount) {
        (self.timer, self.silence) = (timer, silence)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case TLSUserEvent.handshakeCompleted(let negotiated):
            timer.cancel()
            // A client of HTTP/1 sends nothing while it reads a long response.
            guard negotiated == "h2" else { break }
            let idle = IdleStateHandler(readTimeout: silence)
            try? context.pipeline.syncOperations.addHandler(idle, position: .before(self))
        case IdleStateHandler.IdleStateEvent.read: context.close(promise: nil)
        default: break
        }
        context.fireUserInboundEventTriggered(event)
    }
}
