import Foundation
import GatehouseTesting
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import ProviderKit

/// A `ScriptedService` that listens on its own port.
struct UpstreamServer: Sendable {
    /// The base URL without a trailing slash; scripted responses have URLs below it.
    let url: String
    let service: ScriptedService

    /// Returns the number of requests for a path.
    func count(_ path: String) -> Int {
        service.requests.count { $0.url.hasPrefix(url + path) }
    }

    static func with<Output: Sendable>(
        _ body: @Sendable @escaping (UpstreamServer) async throws -> Output
    ) async throws -> Output {
        let service = ScriptedService()
        return try await serve {
            try await answer($0, by: service)
        } _: { port in
            try await body(UpstreamServer(url: "http://127.0.0.1:\(port)", service: service))
        }
    }

    /// Runs the body with the port of a server that answers with `respond`.
    static func serve<Output: Sendable>(
        _ respond: @Sendable @escaping (Request) async throws -> Response,
        _ body: @Sendable @escaping (_ port: Int) async throws -> Output
    ) async throws -> Output {
        let (ports, port) = AsyncStream.makeStream(of: Int.self)
        var logger = Logger(label: "upstream")
        logger.logLevel = .critical
        let application = Application(
            responder: CallbackResponder { (request: Request, _: BasicRequestContext) in try await respond(request) },
            configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in
                port.yield(channel.localAddress?.port ?? 0)
                port.finish()
            }, logger: logger)
        return try await withThrowingTaskGroup(of: Output?.self) { group in
            group.addTask {
                try await application.run()
                return nil
            }
            group.addTask {
                for await port in ports { return try await body(port) }
                throw CancellationError()
            }
            defer { group.cancelAll() }
            while let outcome = try await group.next() {
                if let outcome { return outcome }
            }
            throw CancellationError()
        }
    }

    private static func answer(_ request: Request, by service: ScriptedService) async throws -> Response {
        let body = try await request.body.collect(upTo: 1 << 20)
        let url = "http://\(request.head.authority ?? "")\(request.head.path ?? "/")"
        var fetch = FetchRequest.get(url)
        if request.method == .post {
            let fields = URLComponents(string: "?" + String(buffer: body).replacing("+", with: "%20"))?.queryItems ?? []
            fetch = .post(url, form: Dictionary(fields.map { ($0.name, $0.value ?? "") }) { $1 })
        }
        fetch.headers["authorization"] = request.headers[.authorization]
        do {
            let answer = try await service.fetch(fetch)
            var headers = HTTPFields()
            for (name, value) in answer.headers {
                if let name = HTTPField.Name(name) { headers[name] = value }
            }
            return Response(
                status: .init(code: answer.status), headers: headers,
                body: .init(byteBuffer: ByteBuffer(bytes: answer.body)))
        } catch {
            return Response(status: .init(code: 504))
        }
    }
}
