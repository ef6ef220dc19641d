internal import Accounts
internal import HTTPTypes
internal import Hummingbird

/// Adds the endpoints to the router; other methods on their paths are answered with 405, other paths with 404.
struct RouteTable {
    let endpoints: [Endpoint]
    let services: EndpointResponder.Services

    private static let methods: [HTTPRequest.Method] = [.get, .head, .post, .put, .patch, .delete, .options, .trace]

    /// One endpoint for each path whose error format, CORS rule or set of applications differs from the API's.
    var exceptions: EndpointPaths {
        EndpointPaths(
            endpoints.filter {
                $0.writesError != nil || $0.takes.origins != .listed || $0.takes.isOfOpenID || $0.dialect != nil
            })
    }

    /// Replaces a method that the router does not support by a method that no path serves.
    static func routed(_ method: HTTPRequest.Method) -> HTTPRequest.Method {
        methods.contains(method) ? method : .trace
    }

    func router() -> RouterResponder<APIRequestContext> {
        let router = Router(context: APIRequestContext.self)
        // Has each path once, and refuses its other methods. The router compares each route that is added with all
        // others, so adding each refused method of each path took long.
        let paths = Router(context: APIRequestContext.self)
        // The router compares siblings in the order in which they are added; `/auth/me` is among the shortest.
        for (path, group) in Dictionary(grouping: endpoints, by: \.path).sorted(by: { $0.key.count < $1.key.count }) {
            let route = RouterPath(path)
            var served = Set(group.map(\.method))
            for endpoint in group {
                let responder = EndpointResponder(endpoint: endpoint, services: services)
                router.on(route, method: endpoint.method, responder: responder)
                if endpoint.method == .get, endpoint.answersHEAD {
                    served.insert(.head)
                    router.on(route, method: .head, responder: responder)
                }
            }
            let allowed = served.map(\.rawValue).sorted().joined(separator: ", ")
            paths.on(route, method: OtherMethods.any) { _, context -> Response in
                try group.first?.requireServed(in: context.scope)
                throw APIError(.methodNotAllowed, "This path answers \(allowed)", allowed: allowed)
            }
        }
        // Middleware applies to what is added after it: here, to requests that no endpoint takes.
        paths.add(middleware: MissingPaths())
        router.add(middleware: OtherMethods(paths: paths.buildResponder()))
        return router.buildResponder()
    }
}

/// Passes requests that no endpoint takes to the router of paths, which answers 405 or 404.
private struct OtherMethods: RouterMiddleware {
    /// The method under which `paths` has each path.
    static let any = HTTPRequest.Method.trace
    let paths: RouterResponder<APIRequestContext>

    func handle(
        _ request: Request, context: APIRequestContext, next: (Request, APIRequestContext) async throws -> Response
    ) async throws -> Response {
        var head = request.head
        head.method = Self.any
        return try await paths.respond(to: Request(head: head, body: request.body), context: context)
    }
}

/// Converts the router's 404 into the API's error.
private struct MissingPaths: RouterMiddleware {
    func handle(
        _ request: Request, context: APIRequestContext, next: (Request, APIRequestContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as HTTPError where error.status == .notFound {
            throw APIError.nothingHere
        }
    }
}
