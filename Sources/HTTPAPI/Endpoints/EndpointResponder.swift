internal import Accounts
internal import Administration
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import OpenID
internal import ProviderKit

/// Serves one endpoint: runs the checks in the order of docs/api.md, then the operation.
struct EndpointResponder: HTTPResponder {
    typealias Context = APIRequestContext

    let endpoint: Endpoint
    let services: Services

    /// The services that check requests before the operation runs.
    struct Services: Sendable {
        let authentication: BearerAuthentication
        let scanners: QRBearers
        let limits: any RateLimiting
        let hashing: any PasswordHashing
        let refusals: RefusalAudit
        let administration: AdministrationUseCases
        let statistics: Statistics
    }

    func respond(to request: Request, context: APIRequestContext) async throws -> Response {
        guard let scope = context.scope else { throw APIError(.unknownApplication, "There is no such application") }
        try endpoint.requireServed(in: scope)
        let application = scope.application.application
        if endpoint.takes.isAtIssuer, let answer = scope.application.openID?.answerElsewhere(to: request, in: scope) {
            return answer
        }
        let body = try await RequestBody.collect(request, as: endpoint.takes.form)
        if endpoint.takes.isOfAdministration {
            try Self.refuseBrowsers(request)
        } else if !endpoint.takes.isForBrowsers, !endpoint.takes.isSubrequest {
            try OriginRule.check(request, for: endpoint, scope: scope)
        }
        let incoming = IncomingRequest(request: request, context: context, body: body)
        let operation = endpoint.prepare(incoming, application.providers)
        let client = try await client(of: request, in: scope, hashing: operation.hashesPassword, on: context.channel)
        defer { client.hashingPlace.map(services.hashing.giveBack) }
        try await spend(operation.limit, by: client, in: application)
        let principal = try await principal(of: request, in: scope)
        let administration = endpoint.takes.isOfAdministration ? try await administration(of: request, in: scope) : nil
        do {
            if case .administrator(let needed?) = endpoint.guards.access {
                try administration?.administrator.require(needed)
            }
            if let principal, let call = endpoint.guards.access.needsRecency {
                try await services.authentication.requireRecent(principal, for: call)
            }
            var response = try await operation.run(
                OperationContext(
                    scope: scope, client: client, optionalPrincipal: principal, administration: administration,
                    request: incoming, place: endpoint.takes.place))
            if endpoint.takes.isAtIssuer, let issuer = scope.application.issuer(at: endpoint.takes.place) {
                issuer.keepLanguage(chosenBy: incoming, at: endpoint.path, in: &response)
            }
            // A token in a field of its own would not keep shared caches off (RFC 9111, 3.5).
            if endpoint.dialect != nil || !response.headers.contains(.cacheControl) {
                response.headers[.cacheControl] = "no-store"
            }
            return response
        } catch {
            if let administration {
                await audit(error, by: administration.administrator, context: context)
            } else {
                await services.refusals.record(
                    error, of: context.parameters.get("provider"), by: principal, from: client, in: application,
                    operation: endpoint.guards.name, log: context.log)
            }
            throw error
        }
    }

    /// Returns the client, with a place in the hashing queue if the call hashes a password.
    /// - Throws: `AccountsError.overloaded` if the hashing queue is full. The place is reserved before the rate limit is
    ///   counted, which takes an SQL statement.
    private func client(
        of request: Request, in scope: RequestScope, hashing: Bool, on channel: any Channel
    ) async throws -> Client {
        var client = scope.client
        client.route = endpoint.path
        if let dialect = endpoint.dialect, let renewal = dialect.renewal(in: scope.application.dialects) {
            (client.renewal, client.dialect) = (renewal, dialect.name)
            client.device = dialect.device(in: request.headers) ?? client.device
        }
        guard hashing else { return client }
        client.hashingPlace = try services.hashing.reserve(for: HashingRequester(client, subject: nil))
        client.connection = await channel.clientConnection()
        services.statistics.count(.hashing, in: scope.application.application.id)
        return client
    }

    /// - Throws: `AccountsError.rateLimited`.
    private func spend(_ limit: ClientLimit, by client: Client, in application: Accounts.Application) async throws {
        func ofRoute() -> RateSubject { RateSubject(client, route: endpoint.route) }
        switch limit {
        case .named(let limit): try await services.limits.spend(limit, of: RateSubject(client), in: application)
        case .general: try await services.limits.spend(.general, of: ofRoute(), in: application)
        case .local: try services.limits.spendHere(.general, of: ofRoute(), in: application)
        case .administration:
            try services.limits.spendHere(.adminClient, of: RateSubject(client), in: application)
        case .none: break
        }
    }

    private func principal(of request: Request, in scope: RequestScope) async throws -> Principal? {
        if case .administrator = endpoint.guards.access { return nil }
        guard endpoint.guards.access != .open else { return nil }
        let served = scope.application
        guard let token = try endpoint.credentials(in: scope).token(in: request.headers) else {
            if endpoint.guards.access == .optionalBearer { return nil }
            throw CredentialSource.missing
        }
        if endpoint.guards.access == .scanner, let issuer = served.openID {
            return try await services.scanners.principal(presenting: token, at: issuer)
        }
        do {
            return try await services.authentication.principal(
                presenting: token, in: served.application, admittingFormerGuests: endpoint.guards.admitsFormerGuests)
        } catch AccountsError.invalidToken where endpoint.guards.access == .formerBearer {
            return nil
        }
    }

    /// The token of a `Bearer` header (RFC 6750, 2.1); the scheme is not case-sensitive (RFC 9110, 11.1).
    static func bearer(in header: String) -> String? {
        let scheme = header.utf8.prefix { $0 != UInt8(ascii: " ") }
        let token = header.utf8[scheme.endIndex...].dropFirst()
        guard Substring(scheme).hasSameBytes(ignoringCaseAs: "bearer"), !token.isEmpty else { return nil }
        return String(Substring(token))
    }
}
