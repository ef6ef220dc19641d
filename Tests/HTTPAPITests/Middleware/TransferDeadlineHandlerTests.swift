import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import Testing

@testable import HTTPAPI

struct TransferDeadlineHandlerTests {
    private let head = HTTPRequestPart.head(
        HTTPRequest(method: .post, scheme: "http", authority: "localhost", path: "/"))
    private let drop = HTTPRequestPart.body(ByteBuffer(string: "x"))

    private func connection() throws -> EmbeddedChannel {
        let channel = EmbeddedChannel(handler: TransferDeadlineHandler(limit: .seconds(30)))
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        return channel
    }

    @Test func `a client that sends drop by drop is cut off in time`() throws {
        let channel = try connection()
        try channel.writeInbound(head)
        for _ in 0..<29 {
            channel.embeddedEventLoop.advanceTime(by: .seconds(1))
            try channel.writeInbound(drop)
        }
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }

    @Test func `each request has its own deadline`() throws {
        let channel = try connection()
        for _ in 0..<3 {
            try channel.writeInbound(head)
            channel.embeddedEventLoop.advanceTime(by: .seconds(20))
            try channel.writeInbound(drop)
            try channel.writeInbound(HTTPRequestPart.end(nil))
            channel.embeddedEventLoop.advanceTime(by: .seconds(60))
            #expect(channel.isActive, "nothing is under way")
        }
        try channel.writeInbound(head)
        channel.embeddedEventLoop.advanceTime(by: .seconds(30))
        #expect(!channel.isActive)
    }

    @Test func `a client that reads nothing is cut off in time, one that reads slowly is not`() throws {
        let channel = try connection()
        for isWritable in [false, true, false] {
            channel.isWritable = isWritable
            channel.pipeline.fireChannelWritabilityChanged()
            channel.embeddedEventLoop.advanceTime(by: .seconds(29))
            #expect(channel.isActive)
        }
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }
}
