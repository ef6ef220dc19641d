import Accounts
import Delivery
import Foundation
import GatehouseTesting
import Outbound
import ProviderKit
import Testing

@Suite(.timeLimit(.minutes(1)))
struct GatewayTransportTests {
    private func transport(
        _ sink: HTTPSink, login: String = "", path: String = "/sms", form: SMSGateway.Form = .json,
        deadline: Duration = .seconds(10)
    ) throws -> GatewayTransport {
        GatewayTransport(
            try SMSGateway(url: "http://\(login)127.0.0.1:\(sink.port)\(path)", form: form),
            by: OutboundNetwork().poster(allowsPrivateHosts: true), deadline: deadline)
    }

    @Test func postsTheMessageAndItsID() async throws {
        let sink = try HTTPSink()
        defer { sink.close() }
        let message = try Samples.text(text: "042137 \"ist\" Ihr Cöde\n/ 漢")
        let transport = try transport(sink)
        try await transport.send(message)
        try await transport.send(message)
        let requests = sink.requests.value
        #expect(requests.count == 2)
        let request = try #require(requests.first)
        #expect(request.line == "POST /sms HTTP/1.1")
        #expect(request.headers["content-type"] == "application/json")
        #expect(request.headers["authorization"] == nil && request.headers["expect"] == nil)
        let body = try JSONDecoder().decode([String: String].self, from: Data(request.body.utf8))
        #expect(body == ["id": message.id.text, "to": "+33612345678", "text": message.text])
        #expect(requests[1].body == request.body)
    }

    @Test func postsTwiliosFormWithTheURLsLogin() async throws {
        let sink = try HTTPSink { _ in .status(201) }
        defer { sink.close() }
        let transport = try transport(
            sink, login: "AC1%40:s%3Acret@", path: "/2010-04-01/Accounts/AC1/Messages.json?a=b",
            form: .twilio(from: "+15005550006"))
        try await transport.send(try Samples.text(text: "042137 è & = ü +\n~"))
        let request = try #require(sink.requests.value.first)
        #expect(request.line == "POST /2010-04-01/Accounts/AC1/Messages.json?a=b HTTP/1.1")
        #expect(request.headers["content-type"] == "application/x-www-form-urlencoded")
        #expect(
            request.body
                == "Body=042137%20%C3%A8%20%26%20%3D%20%C3%BC%20%2B%0A~&From=%2B15005550006&To=%2B33612345678")
        let login = Data("AC1@:s:cret".utf8).base64EncodedString()
        #expect(request.headers["authorization"] == "Basic \(login)")
    }

    @Test(arguments: [200, 201, 202, 204, 299])
    func anySuccessIsAccepted(status: Int) async throws {
        let sink = try HTTPSink { _ in .status(status) }
        defer { sink.close() }
        try await transport(sink).send(try Samples.text())
    }

    @Test(arguments: [
        (400, DeliveryError.gatewayRefused(status: 400)), (403, .gatewayRefused(status: 403)),
        (404, .gatewayRefused(status: 404)), (422, .gatewayRefused(status: 422)),
        (401, .gatewayDeferred(status: 401)), (407, .gatewayDeferred(status: 407)),
        (408, .gatewayDeferred(status: 408)), (429, .gatewayDeferred(status: 429)),
        (500, .gatewayDeferred(status: 500)), (503, .gatewayDeferred(status: 503)),
        (302, .gatewayDeferred(status: 302)),
    ])
    func whatARefusalMeans(status: Int, error: DeliveryError) async throws {
        let sink = try HTTPSink { _ in .status(status) }
        defer { sink.close() }
        let transport = try transport(sink)
        let message = try Samples.text()
        await #expect(throws: error) { try await transport.send(message) }
        #expect(error.reason == "http-\(status)")
        #expect(error.isPermanent == ((400..<500).contains(status) && ![401, 407, 408, 429].contains(status)))
        #expect(sink.requests.value.count == 1)
    }

    /// Following a redirect would send the code to another server.
    @Test func aRedirectIsNotFollowed() async throws {
        let other = try HTTPSink()
        defer { other.close() }
        let port = other.port
        let sink = try HTTPSink { _ in
            .raw("HTTP/1.1 307 Go\r\nLocation: http://127.0.0.1:\(port)/\r\nContent-Length: 0\r\n\r\n")
        }
        defer { sink.close() }
        let transport = try transport(sink)
        let message = try Samples.text()
        await #expect(throws: DeliveryError.gatewayDeferred(status: 307)) { try await transport.send(message) }
        #expect(other.requests.value.isEmpty)
    }

    @Test func anAcceptedMessageStaysSoWhateverFollows() async throws {
        let sink = try HTTPSink { _ in .raw("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{") }
        defer { sink.close() }
        try await transport(sink).send(try Samples.text())
    }

    @Test func aGatewayThatSaysNothingIsLeftAtTheDeadline() async throws {
        let sink = try HTTPSink { _ in .hang }
        defer { sink.close() }
        let transport = try transport(sink, deadline: .milliseconds(300))
        let message = try Samples.text()
        let start = ContinuousClock.now
        await #expect(throws: DeliveryError.unreachable(.timeout)) { try await transport.send(message) }
        #expect(start.duration(to: .now) < .seconds(3))
    }

    @Test func whatIsNoHTTPIsNotAccepted() async throws {
        let silent = try HTTPSink { _ in .raw("") }
        let chatty = try HTTPSink { _ in .raw("220 relay.example ESMTP\r\n") }
        defer {
            silent.close()
            chatty.close()
        }
        for sink in [silent, chatty] {
            let transport = try transport(sink)
            let message = try Samples.text()
            await #expect(throws: DeliveryError.unreachable(.disconnected)) { try await transport.send(message) }
        }
    }

    /// Private addresses in several spellings, each with plain HTTP and HTTPS.
    @Test(arguments: ["http", "https"], ["127.0.0.1", "localhost", "127.1", "[::1]", "[::ffff:7f00:1]"])
    func aPrivateHostIsReachedOnlyWhereThatIsAllowed(scheme: String, host: String) async throws {
        let sink = try HTTPSink()
        defer { sink.close() }
        let network = OutboundNetwork()
        let gateway = try SMSGateway(url: "\(scheme)://\(host):\(sink.port)/sms", form: .json)
        let transport = GatewayTransport(gateway, by: network.poster(allowsPrivateHosts: false))
        let message = try Samples.text()
        await #expect(throws: DeliveryError.unreachable(.forbidden)) { try await transport.send(message) }
        #expect(sink.requests.value.isEmpty)
        await network.shutdown()
    }

    @Test func aPortThatNobodyListensOn() async throws {
        let sink = try HTTPSink()
        let transport = try transport(sink)
        sink.close()
        let message = try Samples.text()
        await #expect(throws: DeliveryError.self) { try await transport.send(message) }
    }

    @Test(arguments: ["", "sms", "ftp://host/sms", "http://", "https:///sms", "mailto:a@b.example"])
    func onlyHTTPURLs(url: String) {
        #expect(
            throws: DeliveryError.invalidSetting(
                field: "delivery.sms.url", reason: "is not an absolute http or https URL")
        ) {
            try SMSGateway(url: url, form: .json)
        }
    }

    @Test func aDumpShowsNoSecret() throws {
        let gateway = try SMSGateway(url: "https://user:hunter2@host.example/key-hunter2?k=hunter2", form: .json)
        var dump = ""
        Swift.dump(gateway, to: &dump)
        #expect(!"\(gateway) \(String(reflecting: gateway)) \(dump)".contains("hunter2"))
    }
}
