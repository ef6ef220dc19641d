internal import Accounts
internal import Administration
internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import ProviderKit

extension Endpoint {
    /// Whether the listener serves the endpoint to the request's client: the admin API and the console, if they are
    /// configured, or everything else.
    func isServed(byListenerOf scope: RequestScope?) -> Bool {
        let isOfAdministration = takes.isOfAdministration || takes.isOfConsole
        guard let scope else { return !isOfAdministration }
        guard isOfAdministration else { return scope.listener == .main }
        return takes.isOfConsole ? scope.hasConsole : scope.admittingSettings != nil
    }
}

extension RequestScope {
    /// The settings of the section `admin`, if the listener serves the admin API to the request's client.
    fileprivate var admittingSettings: AdministrationSettings? {
        guard let settings = site.administration, listener.servesAdministration(settings),
            settings.admits(statedAddress)
        else { return nil }
        return settings
    }

    /// Whether the listener serves the console to the request's client.
    var hasConsole: Bool { admittingSettings?.console != nil && pathPrefix.isEmpty }
}

extension EndpointResponder {
    /// Refuses requests that a web page may have caused: programs with a key send no `Origin`, and send the key instead
    /// of a cookie.
    static func refuseBrowsers(_ request: Request) throws {
        let hasCookieOnly =
            request.headers.contains(.cookie) && request.headers[.authorization].flatMap(bearer) == nil
        guard !request.headers.contains(.origin), !hasCookieOnly else {
            throw APIError(.unauthorizedRequestOrigin, "Pages can't call the admin API")
        }
    }

    /// The caller of an endpoint of the admin API; `nil` if the endpoint needs none, such as the OpenAPI document.
    ///
    /// - Throws: 401 without a valid key, and 404 if the key belongs to another application.
    func administration(of request: Request, in scope: RequestScope) async throws -> AdministratorSession? {
        guard case .administrator = endpoint.guards.access else { return nil }
        guard let token = try [CredentialSource.authorization].token(in: request.headers) else {
            throw CredentialSource.missing
        }
        guard
            let administrator = try await services.administration.keys.administrator(
                presenting: token, from: scope.statedAddress, in: scope.application.application)
        else { throw APIError(.unknownApplication, "There is no such application") }
        return AdministratorSession(administrator, services: services.administration)
    }

    /// Records that an administrator lacks a scope.
    func audit(_ error: any Error, by administrator: Administrator, context: APIRequestContext) async {
        guard case AdministrationError.forbidden(let scope) = error else { return }
        await services.administration.audit(
            refusalOf: endpoint.guards.name, for: ["scope": .string(scope.rawValue)], to: administrator.actor,
            in: administrator.application, log: context.log)
    }
}

extension AdministrationUseCases {
    /// Records that an administrator was refused something; a failure to record it is logged and does not change the
    /// response.
    func audit(
        refusalOf operation: String, for reason: [String: JSONValue], to actor: AdministrativeAct.Actor,
        in application: Accounts.Application, log: Logger
    ) async {
        let details: [String: JSONValue] = ["actor": actor.details, "operation": .string(operation)]
        do {
            try await trail.record(
                AuditEntry(.adminRefused, details: details.merging(reason) { $1 }), application: application.id)
        } catch {
            log.error(
                "A refusal is missing in the audit", metadata: ["operation": "\(operation)", "error": "\(error)"])
        }
    }
}
