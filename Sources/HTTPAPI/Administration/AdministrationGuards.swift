internal import Accounts
internal import Administration
internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import ProviderKit

extension Endpoint {
    /// Whether the listener serves the endpoint to the request's client: the admin API where there is one, or everything
    /// else.
    func isServed(byListenerOf scope: RequestScope?) -> Bool {
        guard let scope else { return !takes.isOfAdministration }
        guard takes.isOfAdministration else { return scope.listener == .main }
        guard let settings = scope.site.administration, scope.listener.servesAdministration(settings) else {
            return false
        }
        return settings.admits(scope.statedAddress)
    }
}

extension EndpointResponder {
    /// Refuses requests that a page may have caused: a program with a key sends no `Origin`, and no cookie instead of
    /// the key.
    static func refuseBrowsers(_ request: Request) throws {
        let hasCookieOnly =
            request.headers.contains(.cookie) && request.headers[.authorization].flatMap(bearer) == nil
        guard !request.headers.contains(.origin), !hasCookieOnly else {
            throw APIError(.unauthorizedRequestOrigin, "Pages can't call the admin API")
        }
    }

    /// Finds the caller of an endpoint of the admin API; `nil` if the endpoint has none, as the document.
    ///
    /// - Throws: 401 without a valid key, and 404 if the key is of another application.
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

    /// Records that an administrator lacks a scope; a failure to record it is logged and does not change the response.
    func audit(_ error: any Error, by administrator: Administrator, context: APIRequestContext) async {
        guard case AdministrationError.forbidden(let scope) = error else { return }
        let details: [String: JSONValue] = [
            "actor": administrator.actor.details, "operation": .string(endpoint.guards.name),
            "scope": .string(scope.rawValue),
        ]
        do {
            try await services.administration.trail.record(
                AuditEntry(.adminRefused, details: details), application: administrator.application.id)
        } catch {
            context.log.error(
                "A refusal is missing in the audit",
                metadata: ["operation": "\(endpoint.guards.name)", "error": "\(error)"])
        }
    }
}

extension APIError {
    /// Converts an error that only administrators get.
    init(_ error: AdministrationError) {
        var details: [String: JSONValue]?
        switch error {
        case .forbidden(let scope): details = ["scope": .string(scope.rawValue)]
        case .invalidProviderSettings(let problems):
            let list = problems.map { JSONValue.object(["path": .string($0.path), "sentence": .string($0.sentence)]) }
            details = ["problems": .array(list)]
        default: details = nil
        }
        self.init(error.code, error.description, details: details)
    }
}

extension AdministrationError {
    fileprivate var code: ErrorCode {
        switch self {
        case .forbidden: .forbidden
        case .accountNotFound: .accountNotFound
        case .notFound: .notFound
        case .wrongState: .wrongState
        case .confirmationRequired: .confirmationRequired
        case .planStale: .planStale
        case .wouldLockOutAdmins: .wouldLockOutAdmins
        case .lastOwner: .lastOwner
        case .invalidProviderSettings: .invalidProviderSettings
        }
    }
}
