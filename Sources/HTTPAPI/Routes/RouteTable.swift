internal import Accounts
internal import HTTPTypes
internal import Hummingbird

/// Puts the declared endpoints into the router; every other method on their paths is 405, every other path 404.
struct RouteTable {
    let endpoints: [Endpoint]
    let authentication: BearerAuthentication

    private static let methods: [HTTPRequest.Method] = [.get, .head, .post, .put, .patch, .delete, .options]

    func router() -> RouterResponder<RequestState> {
        let router = Router(context: RequestState.self)
        for (path, group) in Dictionary(grouping: endpoints, by: \.path) {
            let route = RouterPath(path)
            var served = Set(group.map(\.method))
            for endpoint in group {
                let responder = EndpointResponder(endpoint: endpoint, authentication: authentication)
                router.on(route, method: endpoint.method, responder: responder)
                if endpoint.method == .get {
                    served.insert(.head)
                    router.on(route, method: .head) { request, context in
                        try await responder.respond(to: request, context: context).withoutBody
                    }
                }
            }
            let allowed = served.map(\.rawValue).sorted().joined(separator: ", ")
            for method in Self.methods where !served.contains(method) {
                router.on(route, method: method) { _, _ -> Response in
                    throw APIError(.methodNotAllowed, "This path answers \(allowed)", allowed: allowed)
                }
            }
        }
        return router.buildResponder()
    }
}

extension Response {
    /// The head of the answer that a GET would have had (RFC 9110, 9.3.2).
    fileprivate var withoutBody: Response {
        Response(status: status, headers: headers)
    }
}
