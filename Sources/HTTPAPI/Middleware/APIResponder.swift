internal import Accounts
internal import Foundation
internal import HTTPTypes
package import Hummingbird
internal import Logging
internal import Pages
internal import ProviderKit

/// The outermost responder: gives each request an id, finds its application and client, and calls the router.
///
/// Thrown errors are converted to responses only here, and requests are logged and counted only here.
package struct APIResponder: HTTPResponder {
    package typealias Context = APIRequestContext

    private let site: LiveSite
    private let listener: Listener
    private let router: RouterResponder<APIRequestContext>
    private let metrics: RequestMetrics
    private let dialectMetrics: DialectMetrics
    private let statistics: Statistics
    /// The endpoints that differ in errors, callers or applications from those of the API.
    private let exceptions: EndpointPaths
    private let failures = RequestFailureLog()
    private let ids = RequestIDs()

    init(
        site: LiveSite, listener: Listener, router: RouterResponder<APIRequestContext>, exceptions: EndpointPaths,
        metrics: RequestMetrics, dialectMetrics: DialectMetrics, statistics: Statistics
    ) {
        self.statistics = statistics
        self.listener = listener
        self.exceptions = exceptions
        self.dialectMetrics = dialectMetrics
        self.site = site
        self.router = router
        self.metrics = metrics
    }

    package func respond(to request: Request, context: APIRequestContext) async throws -> Response {
        let began = ContinuousClock.now
        var context = context
        context.id = Self.requestID(of: request) ?? ids.next()
        var response: Response
        do {
            response = try await route(request, context: &context)
        } catch {
            response = self.response(to: error, request: request, context: context)
        }
        // The response to HEAD is that to GET without the content, also for errors (RFC 9110, 9.3.2).
        if request.method == .head { response = Response(status: response.status, headers: response.headers) }
        OriginRule.addHeaders(
            to: &response.headers, request: request, for: callers(of: request, context: context), scope: context.scope)
        response.headers.append(HTTPField(name: .xRequestID, value: context.id))
        response.headers.append(.noSniffing)
        // Hummingbird closes the connection without saying so (RFC 9112, 9.6), and a client that does not know it may
        // send the next request on a connection that is ending.
        if request.headers[.connection] == HTTPField.closing.value { response.headers.append(.closing) }
        // Adds `Strict-Transport-Security` (RFC 6797); a proxy that terminates TLS must add its own.
        if listener.endsTLS(in: site.current) { response.headers.append(.onlyHTTPS) }
        record(response, to: request, took: .now - began, context: context)
        return response
    }

    private func route(_ request: Request, context: inout APIRequestContext) async throws -> Response {
        let site = site.current
        try Self.requireOneHost(request)
        let forwarding = Forwarding(of: request, peer: context.peer, site: site, at: listener)
        try Self.requireHTTPS(forwarding, request: request, site: site)
        try Self.requirePath(request)
        let lookup = try ApplicationLookup(of: request, in: site)
        let client = Self.client(of: request, address: forwarding.address)
        let scope = RequestScope(
            application: lookup.application, pathPrefix: lookup.pathPrefix, publicPath: lookup.publicPath(in: site),
            client: client, forwarding: forwarding, site: site, listener: listener)
        context.scope = scope
        if OriginRule.isPreflight(request) {
            try exception(for: request, context: context)?.requireServed(in: scope)
            return try OriginRule.preflight(request, for: callers(of: request, context: context), scope: scope)
        }
        let method = RouteTable.routed(request.method)
        if lookup.pathPrefix.isEmpty, method == request.method {
            return try await router.respond(to: request, context: context)
        }
        var head = request.head
        head.path = lookup.path
        head.method = method
        return try await router.respond(to: Request(head: head, body: request.body), context: context)
    }

    /// The exception at the request's path, also before the router has found the path.
    private func exception(for request: Request, context: APIRequestContext) -> Endpoint? {
        if let route = context.endpointPath { return exceptions[route] }
        return exceptions.serving(ApplicationLookup.ownPath(of: request))
    }

    private func callers(of request: Request, context: APIRequestContext) -> OriginRule.Callers {
        guard let endpoint = exception(for: request, context: context) else { return .listed }
        return endpoint.isServed(in: context.scope) ? endpoint.takes.origins : .listed
    }

    /// The writer of errors in another form than the API's: that of the endpoint, or of the dialect or the console that a
    /// path without an endpoint belongs to.
    private func errorWriter(for request: Request, context: APIRequestContext) -> ErrorWriter? {
        // One that the listener does not serve to this client must not show by its errors that it exists.
        let endpoint = exception(for: request, context: context).flatMap {
            $0.isServed(byListenerOf: context.scope) ? $0 : nil
        }
        let dialect = dialect(of: endpoint, request: request, context: context)
        if endpoint?.dialect != nil, dialect == nil { return nil }
        let ownPath = ApplicationLookup.ownPath(of: request)
        if endpoint == nil, context.scope?.hasConsole == true, ConsoleRoutes.owns(ownPath) {
            return ConsoleRoutes.writeError
        }
        return endpoint?.writesError ?? dialect?.writesError
    }

    /// The dialect of an endpoint, or of a path without one; `nil` if the application does not have it.
    private func dialect(
        of endpoint: @autoclosure () -> Endpoint?, request: Request, context: APIRequestContext
    ) -> (any Dialect.Type)? {
        guard let scope = context.scope, scope.application.hasDialects else { return nil }
        if let endpoint = endpoint() { return endpoint.dialect.flatMap { $0.isOn(in: scope) ? $0 : nil } }
        let path = ApplicationLookup.ownPath(of: request)
        return HTTPAPI.dialects.first { $0.isOn(in: scope) && $0.owns(path) }
    }

    /// Requires exactly one `Host`, of limited length and in visible ASCII (RFC 9112, 3.2).
    ///
    /// With HTTP/1, the first `Host` field has become the request's authority; any other is still among the fields.
    private static func requireOneHost(_ request: Request) throws {
        guard let host = request.head.authority, !request.headers.contains(.host),
            host.utf8.count <= longestHost, host.utf8.allSatisfy(\.isVisibleASCII)
        else { throw APIError(.invalidParameter, "The request must name one host") }
    }

    /// The longest path and query of OpenID endpoints and pages, in bytes.
    private static let longestURL = 8192

    /// The longest host in bytes: a name of 253 bytes (RFC 1035, 2.3.4), a colon and a port.
    private static let longestHost = 259

    /// Refuses paths that can't be served, before the router compares their parts.
    private static func requirePath(_ request: Request) throws {
        let length = request.head.path?.utf8.count ?? 0
        guard length <= longestURL || ApplicationLookup.ownPath(of: request).hasPrefix("/api/") else {
            throw APIError(.invalidParameter, "The URL is longer than \(longestURL) bytes", status: 414)
        }
        let path = (request.head.path ?? "/").utf8.prefix { $0 != UInt8(ascii: "?") }
        guard path.count <= EndpointPaths.longest, path.allSatisfy(\.isVisibleASCII) else { throw APIError.nothingHere }
    }

    /// Health checks and metrics are allowed over plain HTTP: they are read next to the server and carry no secret.
    private static func requireHTTPS(_ forwarding: Forwarding, request: Request, site: Site) throws {
        guard !forwarding.isSecure, !site.isDevelopment else { return }
        guard ["/health/live", "/health/ready", "/metrics"].containsBytes(of: request.uri.path) else {
            throw APIError(.httpsRequired, "Use https")
        }
    }

    private static func client(of request: Request, address: String) -> Client {
        let stated = request.headers[.xDeviceName].flatMap { $0.isEmpty ? nil : $0 }
        let device = stated ?? request.headers[.userAgent]
        var client = Client(
            device: device.map {
                $0.utf8.count <= 256 ? $0 : String(String.UnicodeScalarView($0.unicodeScalars.prefix(256)))
            },
            address: address,
            languages: request.headers[.acceptLanguage])
        client.userAgent = request.headers[.userAgent]
        return client
    }

    /// The id that the client sent, if it is short and printable, because it is logged.
    private static func requestID(of request: Request) -> String? {
        guard let id = request.headers[.xRequestID], (1...128).contains(id.utf8.count),
            id.utf8.allSatisfy({ $0.isASCIILetterOrDigit || "-_.:/+=".utf8.contains($0) })
        else { return nil }
        return id
    }

    private func response(to error: any Error, request: Request, context: APIRequestContext) -> Response {
        failures.note(error, in: context.log)
        if let scope = context.scope { statistics.count(refusal: error, in: scope.application.application.id) }
        let write = errorWriter(for: request, context: context)
        if let response = write?(error, request, context) { return response }
        if let known = APIError(any: error) {
            let application = context.scope?.application
            let isForPeople =
                application?.openID != nil && !ApplicationLookup.ownPath(of: request).hasPrefix("/api/")
            if known.code == .notFound, isForPeople, request.takesPages {
                return .step(.error(reason: "not_found", url: nil), status: .notFound, to: request, of: application)
            }
            return known.response()
        }
        return APIError(.internal, "Something went wrong").response()
    }

    /// Logs and counts the request by the path's pattern, never by the path itself, which may contain a deletion's
    /// receipt.
    private func record(
        _ response: Response, to request: Request, took duration: Duration, context: APIRequestContext
    ) {
        let route = context.endpointPath ?? "none"
        metrics.record(
            method: request.method.rawValue, route: route, status: response.status.code, duration: duration)
        if let dialect = dialect(
            of: exception(for: request, context: context), request: request, context: context)
        {
            dialectMetrics.count(dialect, route: route, status: response.status.code)
        }
        guard context.logger.logLevel <= .debug else { return }
        context.log.debug(
            "Request",
            metadata: [
                "method": "\(request.method)", "route": "\(route)", "status": "\(response.status.code)",
                "application": "\(context.scope?.application.application.name ?? "-")",
                "milliseconds": "\(duration.milliseconds)",
            ])
    }
}

extension UInt8 {
    fileprivate var isVisibleASCII: Bool { (0x21...0x7E).contains(self) }
}

extension Duration {
    var milliseconds: Double {
        Double(components.seconds) * 1000 + (Double(components.attoseconds) / 1e12).rounded() / 1000
    }
}
