internal import Accounts
internal import HTTPTypes
internal import Hummingbird
internal import OpenID
internal import ProviderKit

/// A route: an operation at a method and path, with the format of its request and response.
///
/// The router and the OpenAPI document are both built from this declaration.
struct Endpoint: Sendable {
    let method: HTTPRequest.Method
    let path: String
    /// The method and path by which the limit `general` is counted.
    var route: String
    let summary: String
    /// Whether HEAD is served too; `false` for a GET that changes something (RFC 9110, 9.2.1).
    let answersHEAD: Bool
    let guards: OperationGuards
    let takes: TakenRequest
    let returns: [ReturnedResponse]
    /// Writes errors in another form than the API's.
    let writesError: ErrorWriter?
    /// The dialect that the endpoint belongs to, so that an application that has it off does not have the endpoint.
    var dialect: (any Dialect.Type)?
    let prepare: @Sendable (IncomingRequest, ProviderRegistry) -> PreparedOperation

    /// An operation and the guards that depend on the request.
    struct PreparedOperation: Sendable {
        let limit: ClientLimit
        let hashesPassword: Bool
        /// Reads the input, unless a guard has read it, runs the operation and writes its output.
        let run: @Sendable (OperationContext) async throws -> Response
    }

    fileprivate init<Input, Output>(
        _ operation: Operation<Input, Output>, _ method: HTTPRequest.Method, _ path: String, _ summary: String,
        takes: RequestShape<Input>, returns: ResponseShape<Output>, answersHEAD: Bool
    ) {
        self.method = method
        self.path = path
        route = "\(method.rawValue) \(path)"
        self.summary = summary
        self.answersHEAD = answersHEAD && method == .get
        guards = operation.guards
        self.takes = takes.taken
        self.returns = returns.responses
        writesError = returns.writesError
        // One closure for all requests, so that `prepare` does not copy the operation and its shapes for each.
        let run: @Sendable (Result<Input, any Error>?, OperationContext) async throws -> Response = { known, context in
            let input = try known?.get() ?? takes.read(context.request)
            return try returns.write(try await operation.run(context, input), context)
        }
        prepare = { request, providers in
            var known: Result<Input, any Error>?
            func input() -> Input? {
                let read = known ?? Result { try takes.read(request) }
                known = read
                return try? read.get()
            }
            let limit = operation.limits.limit(for: input, providers: providers)
            let hashesPassword = operation.hashesPassword(input, providers)
            return PreparedOperation(limit: limit, hashesPassword: hashesPassword) { [known] in
                try await run(known, $0)
            }
        }
    }
}

/// The path prefix of version 1 of the API.
let base = "/api/v1"

extension Operation {
    /// Serves the operation at a method and a path below `prefix`.
    func at(
        _ method: HTTPRequest.Method, below prefix: String = base, _ path: String, _ summary: String,
        takes: RequestShape<Input>, returns: ResponseShape<Output>, answersHEAD: Bool = true
    ) -> Endpoint {
        Endpoint(self, method, prefix + path, summary, takes: takes, returns: returns, answersHEAD: answersHEAD)
    }
}

extension Operation {
    /// Serves the operation at an endpoint of one of the application's issuers, or at a path below it.
    func at(
        _ method: HTTPRequest.Method, _ endpoint: Issuer.Endpoint, of place: Issuer.Place, below suffix: String = "",
        _ summary: String, takes: RequestShape<Input>, returns: ResponseShape<Output>, answersHEAD: Bool = true
    ) -> Endpoint {
        at(
            method, below: place.path(of: endpoint), suffix, summary, takes: takes.at(place), returns: returns,
            answersHEAD: answersHEAD)
    }
}

extension Endpoint {
    /// An endpoint for a document, page or health check that anyone may read and that needs no database.
    static func open(
        _ path: String, _ summary: String, limits: OperationLimits<Void> = .local,
        takes: TakenRequest = TakenRequest(), returns: [ReturnedResponse] = [.init(contentType: "application/json")],
        errors: [ErrorCode] = [],
        _ respond: @escaping @Sendable (OperationContext) async throws -> Response
    ) -> Endpoint {
        Operation("read \(path)", limits: limits, errors: errors) { context, _ in try await respond(context) }
            .at(
                .get, below: "", path, summary, takes: RequestShape(taken: takes) { _ in () },
                returns: ResponseShape(responses: returns) { response, _ in response })
    }

    /// Whether the application serves the endpoint: the listener admits the client, the endpoint's dialect is on, and the
    /// application has the issuer of an endpoint of the OpenID provider.
    func isServed(in scope: RequestScope?) -> Bool {
        guard isServed(byListenerOf: scope) else { return false }
        if let dialect, !dialect.isOn(in: scope) { return false }
        return !takes.isOfOpenID || scope?.application.issuer(at: takes.place).map(takes.isServed) == true
    }

    /// - Throws: 404 if the application does not have the endpoint.
    func requireServed(in scope: RequestScope?) throws {
        guard isServed(in: scope) else { throw APIError.nothingHere }
    }

    /// Where the endpoint's requests may have their token.
    func credentials(in scope: RequestScope) -> [CredentialSource] {
        if takes.isSubrequest { return HTTPAPI.credentials(in: scope) }
        return dialect?.credentials ?? [.authorization]
    }
}
