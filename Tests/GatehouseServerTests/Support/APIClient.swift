import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import ProviderKit

/// An HTTP client of the API, like that of an app.
struct APIClient: Sendable {
    let url: String
    /// The `Host` of requests; `nil` sends that of the URL.
    var host: String?
    /// Headers of all requests.
    var headers: HTTPHeaders = [:]
    private let http: HTTPClient

    private static let shared = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)

    /// Does not follow redirects: they are returned like any other response.
    ///
    /// Idle connections are closed before the server closes them, which it does after 60 seconds: a request that is
    /// sent at that moment gets no response.
    static var configuration: HTTPClient.Configuration {
        HTTPClient.Configuration(
            redirectConfiguration: .disallow, connectionPool: .init(idleTimeout: .seconds(20)))
    }

    /// A client of a server at a URL, with connections of its own if `http` is given.
    init(url: String, http: HTTPClient? = nil) {
        self.url = url
        self.http = http ?? Self.shared
    }

    /// A client of the default application, or of another application by its path prefix.
    init(_ server: TestServer, application: String? = nil, by http: HTTPClient? = nil) {
        self.init(url: server.url + (application.map { "/apps/\($0)" } ?? ""), http: http)
        // The server's public URL, which is chosen before its port.
        host = "127.0.0.1:1"
    }

    struct Answer: Sendable {
        let status: Int
        let headers: HTTPHeaders
        let body: [UInt8]

        var json: JSONValue { (try? JSONDecoder().decode(JSONValue.self, from: Data(body))) ?? .null }
        var text: String { String(decoding: body, as: UTF8.self) }
        /// The seconds of `Retry-After`.
        var retryAfter: Int? { headers.first(name: "retry-after").flatMap { Int($0) } }
        /// `error.message`.
        var message: String { json["error"]["message"].string ?? "" }
        /// `error.code`.
        var code: String? { json["error"]["code"].string }

        subscript(key: String) -> JSONValue { json[key] }
    }

    func send(
        _ method: HTTPMethod, _ path: String, raw: [UInt8]? = nil, bearer: String? = nil,
        headers: HTTPHeaders = [:]
    ) async throws -> Answer {
        var request = HTTPClientRequest(url: url + path)
        request.method = method
        request.headers = headers
        request.headers.add(contentsOf: self.headers)
        if let host, headers["host"].isEmpty { request.headers.add(name: "host", value: host) }
        if let raw {
            if headers["content-type"].isEmpty { request.headers.add(name: "content-type", value: "application/json") }
            request.body = .bytes(raw)
        }
        if let bearer { request.headers.add(name: "authorization", value: "Bearer \(bearer)") }
        let response = try await http.execute(request, timeout: .seconds(30))
        let body = try await response.body.collect(upTo: 1 << 20)
        return Answer(status: Int(response.status.code), headers: response.headers, body: Array(body.readableBytesView))
    }

    func post(
        _ path: String, _ body: JSONValue = [:], bearer: String? = nil, headers: HTTPHeaders = [:]
    ) async throws -> Answer {
        try await send(
            .POST, "/api/v1" + path, raw: Array(JSONEncoder().encode(body)), bearer: bearer, headers: headers)
    }

    func put(_ path: String, _ body: JSONValue, bearer: String? = nil) async throws -> Answer {
        try await send(.PUT, "/api/v1" + path, raw: Array(JSONEncoder().encode(body)), bearer: bearer)
    }

    func patch(_ path: String, _ body: JSONValue, bearer: String? = nil) async throws -> Answer {
        try await send(.PATCH, "/api/v1" + path, raw: Array(JSONEncoder().encode(body)), bearer: bearer)
    }

    func get(_ path: String, bearer: String? = nil) async throws -> Answer {
        try await send(.GET, "/api/v1" + path, bearer: bearer)
    }

    func delete(_ path: String, bearer: String? = nil) async throws -> Answer {
        try await send(.DELETE, "/api/v1" + path, bearer: bearer)
    }
}

extension JSONValue {
    var keys: Set<String> { Set(object?.keys ?? [:].keys) }
}
