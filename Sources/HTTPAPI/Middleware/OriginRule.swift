internal import HTTPTypes
internal import Hummingbird
internal import ProviderKit

/// Which origins may call the API from a browser, and the CORS header fields (Fetch Standard, 3.2) for them.
enum OriginRule {
    /// The pages whose scripts may call a route.
    enum Callers {
        /// Those of the application's origins.
        case listed
        /// Those of every origin; the route must not read cookies.
        case all
        /// Only those of the server itself.
        case none
    }

    private static let refusal = APIError(
        .unauthorizedRequestOrigin, "This origin is not on the application's list")

    /// Refuses a request to the API whose `Origin` is neither listed nor the server's own.
    ///
    /// The endpoint's path decides, because the request may spell the same path in other ways (`//api/v1`).
    static func check(_ request: Request, for endpoint: Endpoint, scope: RequestScope) throws {
        let path = endpoint.path
        guard endpoint.dialect != nil || path.hasPrefix("/api/") || path.hasPrefix("/blitz/api/"),
            let origin = request.headers[.origin]
        else { return }
        guard allows(origin, scope: scope) else { throw refusal }
    }

    static func allows(_ origin: String, scope: RequestScope) -> Bool {
        scope.application.origins.containsBytes(of: origin) || origin.hasSameBytes(as: scope.site.ownOrigin)
    }

    /// The response to a preflight request; for an origin that may not call, it contains nothing about the server.
    static func preflight(_ request: Request, for callers: Callers, scope: RequestScope) throws -> Response {
        switch callers {
        case .none: throw refusal
        case .all:
            return Response(
                status: .noContent,
                headers: [
                    .accessControlAllowMethods: "GET, POST",
                    // A proof of possession (RFC 9449) is ignored, and so must not fail a client that sends one.
                    .accessControlAllowHeaders: "Authorization, Content-Type, DPoP, X-Request-ID",
                    .accessControlMaxAge: "600", .cacheControl: "no-store",
                ])
        case .listed:
            guard let origin = request.headers[.origin], allows(origin, scope: scope) else { throw refusal }
            let fields =
                ["Authorization", "Content-Type", "X-Request-ID", "X-Device-Name"] + HTTPAPI.requestFields(in: scope)
            return Response(
                status: .noContent,
                headers: [
                    .accessControlAllowMethods: "GET, POST, PUT, PATCH, DELETE",
                    .accessControlAllowHeaders: fields.joined(separator: ", "),
                    .accessControlMaxAge: "600", .cacheControl: "no-store",
                ])
        }
    }

    static func isPreflight(_ request: Request) -> Bool {
        request.method == .options && request.headers[.origin] != nil
            && request.headers[.accessControlRequestMethod] != nil
    }

    static func addHeaders(to headers: inout HTTPFields, request: Request, for callers: Callers, scope: RequestScope?) {
        switch callers {
        case .none: break
        case .all:
            headers[.accessControlAllowOrigin] = "*"
            headers[.accessControlExposeHeaders] = "X-Request-ID, Retry-After, WWW-Authenticate"
        case .listed:
            headers.append(.varyByOrigin)
            guard let origin = request.headers[.origin], let scope, allows(origin, scope: scope) else { return }
            headers[.accessControlAllowOrigin] = origin
            headers[.accessControlExposeHeaders] = "X-Request-ID, Retry-After, Location"
        }
    }
}
