internal import Accounts
internal import Foundation
internal import HTTPTypes
package import Hummingbird
internal import Logging

/// Receives every request: gives it an id, finds out who calls which application, lets the router answer, and makes an
/// answer of whatever was thrown.
///
/// The one place where errors become HTTP and where requests are logged and counted.
package struct FrontDoor: HTTPResponder {
    package typealias Context = RequestState

    private let site: LiveSite
    private let router: RouterResponder<RequestState>
    private let metrics: RequestMetrics
    private let overload = OverloadLog()

    init(site: LiveSite, router: RouterResponder<RequestState>, metrics: RequestMetrics) {
        self.site = site
        self.router = router
        self.metrics = metrics
    }

    package func respond(to request: Request, context: RequestState) async throws -> Response {
        let began = ContinuousClock.now
        let id = Self.requestID(of: request)
        var context = context
        context.logger[metadataKey: "request"] = .string(id)
        var visit: Visit?
        var response: Response
        do {
            response = try await answer(request, context: &context, visit: &visit)
        } catch {
            response = self.response(to: error, context: context)
        }
        OriginRule.addHeaders(to: &response, request: request, visit: visit)
        response.headers[.xRequestID] = id
        response.headers[.xContentTypeOptions] = "nosniff"
        record(response, to: request, took: .now - began, context: context, visit: visit)
        return response
    }

    private func answer(
        _ request: Request, context: inout RequestState, visit: inout Visit?
    ) async throws -> Response {
        let site = site.current
        let forwarding = Forwarding(of: request, peer: context.peer, site: site)
        try Self.requireHTTPS(forwarding, request: request, site: site)
        let lookup = try ApplicationLookup(of: request, in: site)
        let entered = Visit(
            application: lookup.application, client: Self.client(of: request, address: forwarding.address),
            pathPrefix: lookup.pathPrefix, site: site)
        visit = entered
        context.visit = entered
        if OriginRule.isPreflight(request) { return try OriginRule.preflight(request, visit: entered) }
        var head = request.head
        head.path = lookup.path
        head.method = RouteTable.routed(head.method)
        return try await router.respond(to: Request(head: head, body: request.body), context: context)
    }

    /// Probes come over plain HTTP from beside the server and carry no secret.
    private static func requireHTTPS(_ forwarding: Forwarding, request: Request, site: Site) throws {
        guard !forwarding.isSecure, !site.isDevelopment else { return }
        guard ["/health/live", "/health/ready", "/metrics"].contains(request.uri.path) else {
            throw APIError(.httpsRequired, "Use https")
        }
    }

    private static func client(of request: Request, address: String) -> Client {
        let device = request.headers[.xDeviceName] ?? request.headers[.userAgent]
        return Client(
            device: device.map { String(String.UnicodeScalarView($0.unicodeScalars.prefix(256))) }, address: address,
            languages: request.headers[.acceptLanguage])
    }

    private static let plainCharacters = Set(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:/+=".utf8)

    /// The client's own, where it is short and printable: it goes into logs.
    private static func requestID(of request: Request) -> String {
        guard let id = request.headers[.xRequestID], (1...128).contains(id.utf8.count),
            id.utf8.allSatisfy(plainCharacters.contains)
        else { return UUID.v7().text }
        return id
    }

    private func response(to error: any Error, context: RequestState) -> Response {
        if let known = APIError(any: error) {
            if error.isOverload {
                overload.note(error, in: context.logger)
            } else if known.code.status >= 500 {
                context.logger.warning("Request not served", metadata: ["error": "\(error)"])
            }
            return known.response()
        }
        context.logger.error("Request failed", metadata: ["error": "\(error)"])
        return APIError(.internal, "Something went wrong").response()
    }

    /// The path's pattern, never the path: that may hold a receipt.
    private func record(
        _ response: Response, to request: Request, took duration: Duration, context: RequestState, visit: Visit?
    ) {
        let route = context.endpointPath ?? "none"
        metrics.record(
            method: request.method.rawValue, route: route, status: response.status.code, duration: duration)
        context.logger.debug(
            "Request",
            metadata: [
                "method": "\(request.method)", "route": "\(route)", "status": "\(response.status.code)",
                "application": "\(visit?.application.application.name ?? "-")",
                "milliseconds": "\(duration.milliseconds)",
            ])
    }
}

extension Duration {
    var milliseconds: Double {
        Double(components.seconds) * 1000 + (Double(components.attoseconds) / 1e12).rounded() / 1000
    }
}
