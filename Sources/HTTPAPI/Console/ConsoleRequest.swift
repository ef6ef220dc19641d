internal import Accounts
internal import Administration
internal import Console
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import OpenID
internal import ProviderKit

/// A request of a person who is signed in to the console.
struct ConsoleRequest: Sendable {
    let console: ConsoleServices
    let settings: ConsoleSettings
    let home: Accounts.Application
    let session: ConsoleSession
    /// The person, as the caller of operations on the application that the page is about.
    let administrator: Administrator
    /// The scope of that application.
    let scope: RequestScope
    let context: OperationContext
    /// What was typed into a form that was refused, or that waits again after a proof.
    var attempt: ConsoleAttempt?
    /// What the previous act has done.
    var said: JSONValue?

    var application: Accounts.Application { administrator.application }
    /// The path of the application's pages, `/console/photos`.
    var base: String { "/console/\(application.name)" }
    /// The path of the request, without its query.
    var path: String { context.request.request.uri.path }
    var query: FormFields { get throws { try context.request.query } }
    var headers: HTTPFields { context.request.request.headers }

    /// A parameter of the path.
    subscript(name: String) -> String { context.request[name] }

    func may(_ scope: AdminScope) -> Bool { administrator.scopes.contains(scope) }

    /// Whether the person's roles admit them to an operation of the admin API.
    func may(call endpoint: Endpoint) -> Bool {
        guard case .administrator(let needed?) = endpoint.guards.access else { return true }
        return may(needed)
    }

    /// The path of an act or list of the admin API at the console, with the parameters of this request as it has them.
    ///
    /// They are not decoded, so the path is that of the request even if a parameter is percent-encoded.
    func path(of route: String) -> String {
        base
            + route.split(separator: "/", omittingEmptySubsequences: false).map { part in
                part.hasPrefix("{") ? self[String(part.dropFirst().dropLast())] : String(part)
            }.joined(separator: "/")
    }

    /// The form that was sent to a path, if it is the one that is shown again.
    func attempt(at path: String) -> ConsoleAttempt? {
        attempt.flatMap { $0.path.hasSameBytes(as: path) ? $0 : nil }
    }

    func formToken(for path: String) -> String { console.sessions.formToken(for: path, in: session) }
}

/// A form that was sent.
struct ConsoleAttempt: Sendable {
    /// The path that it was sent to.
    let path: String
    let fields: FormFields
    /// Why it was refused; `nil` if it only waits to be sent again.
    var problem: APIError?
}

/// The services and settings that the console uses.
struct ConsoleServices: Sendable {
    let administration: AdministrationUseCases
    let openID: OpenIDUseCases
    let limits: any RateLimiting
    /// The operations of the admin API.
    let endpoints: [Endpoint]
    /// The fields of their forms that may have several values.
    let repeatedFields: Set<String>

    init(
        administration: AdministrationUseCases, openID: OpenIDUseCases, limits: any RateLimiting, endpoints: [Endpoint]
    ) {
        (self.administration, self.openID, self.limits) = (administration, openID, limits)
        self.endpoints = endpoints
        repeatedFields = endpoints.reduce(into: []) { $0.formUnion(ConsoleForm.repeated(in: $1)) }
    }

    var sessions: ConsoleSessions { administration.consoleSessions }

    /// The operation at a method and a path below the base of the admin API.
    func endpoint(_ method: HTTPRequest.Method, _ path: String) -> Endpoint? {
        endpoints.first { $0.method == method && $0.path.hasSameBytes(as: Endpoint.administrationBase + path) }
    }

    /// The act or question at a path, which is an operation that is not a GET.
    func act(at path: String) -> Endpoint? {
        endpoints.first { $0.method != .get && $0.path.hasSameBytes(as: Endpoint.administrationBase + path) }
    }
}

// MARK: - Calling the admin API

extension ConsoleRequest {
    /// The answer to a GET of the admin API, with the parameters of this request; `null` if the person lacks its scope.
    func read(_ path: String, asking query: [(String, String?)] = []) async throws -> JSONValue {
        guard let endpoint = console.endpoint(.get, path) else { throw APIError.nothingHere }
        return try await may(call: endpoint) ? answer(to: path, asking: query) : .null
    }

    /// The answer to a GET of the admin API, which the page is about.
    ///
    /// - Throws: what the operation throws, and `AdministrationError.forbidden`.
    func answer(to path: String, asking query: [(String, String?)] = []) async throws -> JSONValue {
        try await answer(get(path, asking: query))
    }

    /// The response to a GET of the admin API.
    ///
    /// - Throws: what the operation throws, and `AdministrationError.forbidden`.
    func get(_ path: String, asking query: [(String, String?)] = []) async throws -> Response {
        guard let endpoint = console.endpoint(.get, path) else { throw APIError.nothingHere }
        return try await run(endpoint, query: query.reduce("/") { $0.addingQuery([$1.0: $1.1]) })
    }

    /// Runs an operation of the admin API for the person.
    ///
    /// - Throws: what the operation throws, and `AdministrationError.forbidden`.
    func run(_ endpoint: Endpoint, query: String = "/", body: JSONValue? = nil) async throws -> Response {
        let sent = try body.map { ByteBuffer(bytes: try JSONEncoder.stable.encode($0)) } ?? ByteBuffer()
        let head = HTTPRequest(method: endpoint.method, scheme: nil, authority: nil, path: query)
        let request = IncomingRequest(
            request: Request(head: head, body: .init(buffer: sent)), context: context.request.context, body: sent)
        try await require(endpoint)
        do {
            let caller = AdministratorSession(administrator, services: console.administration)
            return try await endpoint.prepare(request, application.providers).run(
                OperationContext(
                    scope: scope, client: context.client, optionalPrincipal: nil, administration: caller,
                    request: request, place: endpoint.takes.place))
        } catch AdministrationError.forbidden(let scope) {
            throw await refusal(of: endpoint.guards.name, lacking: scope)
        }
    }

    /// Refuses a person whose roles do not admit them to an operation.
    ///
    /// - Throws: `AdministrationError.forbidden`, after it has been audited.
    func require(_ endpoint: Endpoint) async throws {
        guard case .administrator(let needed?) = endpoint.guards.access, !may(needed) else { return }
        throw await refusal(of: endpoint.guards.name, lacking: needed)
    }

    /// Refuses a person whose roles do not admit them to the act or question at a path of the admin API.
    ///
    /// - Throws: `AdministrationError.forbidden`, after it has been audited.
    func require(_ route: String) async throws {
        guard let endpoint = console.act(at: route) else { throw APIError.nothingHere }
        try await require(endpoint)
    }

    /// The error for a person who lacks a scope, after it has been audited under the name of an operation.
    func refusal(of operation: String, lacking scope: AdminScope) async -> AdministrationError {
        await console.administration.audit(
            refusalOf: operation, for: ["scope": .string(scope.rawValue)], to: administrator.actor,
            in: application, log: context.log)
        return .forbidden(scope)
    }

    /// The JSON of a response; `null` for one without a body.
    func answer(_ response: Response) async throws -> JSONValue {
        let collected = CollectedBody()
        try await response.body.write(collected)
        return JSONValue(written: collected.bytes)
    }
}

extension JSONValue {
    /// A value that this server has written.
    fileprivate init(written bytes: [UInt8]) {
        self = (try? JSONText.value(own: bytes)) ?? .null
    }
}

/// Keeps what a response writes.
private final class CollectedBody: ResponseBodyWriter {
    private(set) var bytes: [UInt8] = []

    func write(_ buffer: ByteBuffer) async throws { bytes += Array(buffer.readableBytesView) }
    func finish(_ trailingHeaders: HTTPFields?) async throws {}
}
