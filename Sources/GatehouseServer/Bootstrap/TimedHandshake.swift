internal import HummingbirdCore
internal import HummingbirdHTTP2
internal import Logging
internal import NIOCore
internal import NIOSSL
internal import NIOTLS

/// A TLS connection that is closed if the handshake does not end within a time limit.
///
/// Hummingbird's limits begin after the handshake.
struct TimedHandshake: ServerChildChannel {
    let base: HTTP2UpgradeChannel
    let limit: TimeAmount

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTP2UpgradeChannel.Value> {
        let timer = channel.eventLoop.scheduleTask(in: limit) { channel.close(promise: nil) }
        channel.closeFuture.whenComplete { _ in timer.cancel() }
        return base.setup(channel: channel, logger: logger).flatMapThrowing { value in
            let pipeline = channel.pipeline.syncOperations
            let tls = try pipeline.handler(type: NIOSSLServerHandler.self)
            try pipeline.addHandler(HandshakeHandler(timer: timer), position: .after(tls))
            return value
        }
    }

    func handle(value: HTTP2UpgradeChannel.Value, logger: Logger) async {
        await base.handle(value: value, logger: logger)
    }
}

/// Cancels the timer when the handshake has ended.
private final class HandshakeHandler: ChannelInboundHandler {
    typealias InboundIn = NIOAny

    private let timer: Scheduled<Void>

    init(timer: Scheduled<Void>) {
        self.timer = timer
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted = event as? TLSUserEvent { timer.cancel() }
        context.fireUserInboundEventTriggered(event)
    }
}
