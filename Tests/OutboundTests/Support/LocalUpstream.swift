import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Synchronization

/// A service on 127.0.0.1 with scripted responses.
final class LocalUpstream: Sendable {
    enum Answer: Sendable {
        case reply(UInt, headers: [String: String] = [:], body: String = "{}")
        /// Accepts connections and sends nothing.
        case silence
        /// Sends a chunked body that never ends.
        case endless
        /// Sends the head and the first byte of the body, and then nothing.
        case stall
    }

    struct Asked: Sendable {
        let method: String
        let uri: String
        let headers: [String: String]
        let body: String
    }

    let port: Int
    private let channel: any Channel
    private let log: Log

    final class Log: Sendable {
        let asked = Mutex<[Asked]>([])
        let connections = Atomic(0)
        let chunks = Atomic(0)
    }

    static func with<Output>(
        at host: String = "127.0.0.1", tls: NIOSSLContext? = nil, answer: @escaping @Sendable (Asked) -> Answer,
        _ body: (LocalUpstream) async throws -> Output
    ) async throws -> Output {
        let upstream = try await LocalUpstream(at: host, tls: tls, answer: answer)
        do {
            let result = try await body(upstream)
            try await upstream.channel.close()
            return result
        } catch {
            try? await upstream.channel.close()
            throw error
        }
    }

    private init(at host: String, tls: NIOSSLContext?, answer: @escaping @Sendable (Asked) -> Answer) async throws {
        let log = Log()
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                log.connections.add(1, ordering: .relaxed)
                return channel.eventLoop.makeCompletedFuture {
                    if let tls { try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls)) }
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(Handler(log: log, answer: answer))
                }
            }
            .bind(host: host, port: 0).get()
        self.channel = channel
        self.log = log
        port = channel.localAddress?.port ?? 0
    }

    var asked: [Asked] { log.asked.withLock { $0 } }
    var connections: Int { log.connections.load(ordering: .relaxed) }
    /// The number of chunks of 64 KiB that were written for endless bodies.
    var chunksWritten: Int { log.chunks.load(ordering: .relaxed) }

    func url(_ path: String = "/", host: String = "127.0.0.1", scheme: String = "http") -> String {
        "\(scheme)://\(host):\(port)\(path)"
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        private let log: Log
        private let answer: @Sendable (Asked) -> Answer
        private var head: HTTPRequestHead?
        private var body = ""

        init(log: Log, answer: @escaping @Sendable (Asked) -> Answer) {
            self.log = log
            self.answer = answer
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head):
                self.head = head
                body = ""
            case .body(let part):
                body += String(buffer: part)
            case .end:
                guard let head else { return }
                let asked = Asked(
                    method: head.method.rawValue, uri: head.uri,
                    headers: Dictionary(head.headers.map { ($0.name.lowercased(), $0.value) }) { $1 }, body: body)
                log.asked.withLock { $0.append(asked) }
                write(answer(asked), to: context)
            }
        }

        private func write(_ answer: Answer, to context: ChannelHandlerContext) {
            switch answer {
            case .reply(let status, let headers, let body):
                var fields = HTTPHeaders(headers.map { ($0.key, $0.value) })
                fields.replaceOrAdd(name: "content-length", value: String(body.utf8.count))
                writeHead(status, fields, to: context)
                context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: body)))), promise: nil)
                context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
            case .silence:
                break
            case .endless:
                writeHead(200, ["transfer-encoding": "chunked"], to: context)
                writeChunk(to: context)
            case .stall:
                writeHead(200, ["content-length": "10"], to: context)
                context.writeAndFlush(
                    wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: "{")))), promise: nil)
            }
        }

        private func writeHead(_ status: UInt, _ headers: HTTPHeaders, to context: ChannelHandlerContext) {
            let head = HTTPResponseHead(
                version: .http1_1, status: HTTPResponseStatus(statusCode: Int(status)), headers: headers)
            context.write(wrapOutboundOut(.head(head)), promise: nil)
        }

        private func writeChunk(to context: ChannelHandlerContext) {
            log.chunks.add(1, ordering: .relaxed)
            let chunk = ByteBuffer(repeating: UInt8(ascii: " "), count: 65536)
            let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
            context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(chunk)))).whenSuccess {
                let (handler, context) = bound.value
                handler.writeChunk(to: context)
            }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            context.close(promise: nil)
        }
    }
}
