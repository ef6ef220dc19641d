internal import HTTPTypes
internal import Hummingbird
internal import ProviderKit

/// Which origins may call the API from a browser, and the CORS header fields (Fetch Standard, 3.2) for them.
enum OriginRule {
    private static let refusal = APIError(
        .unauthorizedRequestOrigin, "This origin is not on the application's list")

    /// Refuses a request to the API whose `Origin` is neither listed nor the server's own.
    ///
    /// `path` is the endpoint's path, because the request may spell the same path in other ways (`//api/v1`).
    static func check(_ request: Request, for path: String, scope: RequestScope) throws {
        guard path.hasPrefix("/api/"), let origin = request.headers[.origin] else { return }
        guard allows(origin, scope: scope) else { throw refusal }
    }

    static func allows(_ origin: String, scope: RequestScope) -> Bool {
        scope.application.origins.containsBytes(of: origin) || origin.hasSameBytes(as: scope.site.ownOrigin)
    }

    /// The response to a preflight request for a path that pages of every origin may call, without credentials.
    static var openPreflight: Response {
        Response(
            status: .noContent,
            headers: [
                .accessControlAllowOrigin: "*", .accessControlAllowMethods: "GET, POST",
                .accessControlAllowHeaders: "Authorization, Content-Type, X-Request-ID", .accessControlMaxAge: "600",
            ])
    }

    /// The response to a preflight request; for an unlisted origin it contains nothing about the server.
    static func preflight(_ request: Request, scope: RequestScope) throws -> Response {
        guard let origin = request.headers[.origin], allows(origin, scope: scope) else { throw refusal }
        return Response(
            status: .noContent,
            headers: [
                .accessControlAllowMethods: "GET, POST, PUT, PATCH, DELETE",
                .accessControlAllowHeaders: "Authorization, Content-Type, X-Request-ID, X-Device-Name",
                .accessControlMaxAge: "600",
            ])
    }

    static func isPreflight(_ request: Request) -> Bool {
        request.method == .options && request.headers[.origin] != nil
            && request.headers[.accessControlRequestMethod] != nil
    }

    static func addHeaders(to headers: inout HTTPFields, request: Request, scope: RequestScope?) {
        // A path for every origin has its own header fields.
        guard headers[.accessControlAllowOrigin] == nil else { return }
        headers.append(.varyByOrigin)
        guard let origin = request.headers[.origin], let scope, allows(origin, scope: scope) else { return }
        headers[.accessControlAllowOrigin] = origin
        headers[.accessControlExposeHeaders] = "X-Request-ID, Retry-After, Location"
    }
}
