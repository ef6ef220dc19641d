internal import Accounts
internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import NIOCore
internal import ProviderKit

/// Serves one endpoint: the checks in the order of docs/api.md, then its handler.
struct EndpointResponder: HTTPResponder {
    typealias Context = APIRequestContext

    let endpoint: Endpoint
    let authentication: BearerAuthentication
    let limits: any RateLimiting
    let hashing: any PasswordHashing
    let refusals: RefusalAudit

    func respond(to request: Request, context: APIRequestContext) async throws -> Response {
        guard let scope = context.scope else { throw APIError(.unknownApplication, "There is no such application") }
        let body = try await RequestBody.collect(request, as: endpoint.bodyForm)
        if !endpoint.isForBrowsers { try OriginRule.check(request, for: endpoint.path, scope: scope) }
        let client = try await client(of: body, context: context, scope: scope)
        try await countCall(by: client, body: body, parameters: context.parameters, scope: scope)
        let principal = try await principal(of: request, scope: scope)
        let operation = OperationContext(
            request: request, context: context, scope: scope, client: client, optionalPrincipal: principal)
        return try await auditingRefusals(by: principal, from: client, context: context, scope: scope) {
            if let principal, endpoint.access == .recent {
                try await authentication.requireRecent(principal)
            }
            return try await endpoint.handle(operation, body)
        }
    }

    /// A refusal stands whether or not it could be written down.
    private func auditingRefusals(
        by principal: Principal?, from client: Client, context: APIRequestContext, scope: RequestScope,
        _ body: () async throws -> Response
    ) async throws -> Response {
        do {
            return try await body()
        } catch {
            if let entry = AuditEntry(
                refusal: error, route: endpoint.path, provider: context.parameters.get("provider"), principal: principal
            ) {
                do {
                    try await refusals.record(entry, from: client, in: scope.application.application)
                } catch {
                    context.log.error("A refusal is missing in the audit", metadata: ["error": "\(error)"])
                }
            }
            throw error
        }
    }

    /// - Throws: `AccountsError.overloaded` where a hash would be refused: before the limit is counted, which takes a
    ///   statement.
    private func client(
        of body: ByteBuffer, context: APIRequestContext, scope: RequestScope
    ) async throws -> Client {
        var client = scope.client
        client.route = endpoint.path
        guard endpoint.hashesPassword(body) else { return client }
        try hashing.requireCapacity(for: HashingRequester(client, subject: nil))
        client.connection = await context.channel.clientConnection()
        return client
    }

    /// - Throws: `AccountsError.rateLimited`.
    private func countCall(by client: Client, body: ByteBuffer, parameters: Parameters, scope: RequestScope)
        async throws
    {
        let application = scope.application.application
        if let limit = limit(of: body, parameters: parameters, scope: scope) {
            return try await limits.spend(limit, of: RateSubject(client), in: application)
        }
        let subject = RateSubject(client, route: "\(endpoint.method.rawValue) \(endpoint.path)")
        switch endpoint.generalLimit {
        case .shared: try await limits.spend(.general, of: subject, in: application)
        case .local: try limits.spendHere(.general, of: subject, in: application)
        case .none: break
        }
    }

    private func limit(of body: ByteBuffer, parameters: Parameters, scope: RequestScope) -> RateLimit? {
        if let name = endpoint.limitedProvider?(parameters, body),
            let provider = try? scope.application.application.providers.named(name),
            let limit = provider.directRoute.flatMap({ RateLimit(rawValue: $0) })
        {
            return limit
        }
        return endpoint.isLimited(body) ? endpoint.limit : nil
    }

    private func principal(of request: Request, scope: RequestScope) async throws -> Principal? {
        guard endpoint.access != .open else { return nil }
        if endpoint.access == .optionalBearer, request.headers[.authorization] == nil { return nil }
        guard let token = request.headers[.authorization].flatMap(Self.bearer) else {
            throw APIError(.invalidToken, "Authorization: Bearer is missing")
        }
        return try await authentication.principal(
            presenting: token, in: scope.application.application, admittingFormerGuests: endpoint.admitsFormerGuests)
    }

    /// RFC 6750, 2.1; the scheme's case does not matter (RFC 9110, 11.1).
    private static func bearer(in header: String) -> String? {
        let scheme = header.utf8.prefix { $0 != UInt8(ascii: " ") }
        let token = header.utf8[scheme.endIndex...].dropFirst()
        guard Substring(scheme).hasSameBytes(ignoringCaseAs: "bearer"), !token.isEmpty else { return nil }
        return String(Substring(token))
    }
}

extension Endpoint {
    var bodyForm: RequestBody.Form? {
        guard isForBrowsers else { return body == nil ? nil : .json }
        return method == .get ? nil : .form
    }
}
