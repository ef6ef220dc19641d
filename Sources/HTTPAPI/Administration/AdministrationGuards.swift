internal import Accounts
internal import Administration
internal import HTTPTypes
internal import Hummingbird
internal import ProviderKit

extension Endpoint {
    /// Whether the request's client may know of the admin API, if the endpoint belongs to it.
    func admitsAdministration(in scope: RequestScope?) -> Bool {
        guard takes.isOfAdministration else { return true }
        guard let scope, let settings = scope.site.administration, scope.door.isForAdministration(settings) else {
            return false
        }
        return settings.admits(scope.client.address)
    }
}

extension EndpointResponder {
    /// Refuses requests that a page may have caused: a program with a key sends no `Origin`, and no cookie instead of
    /// the key.
    static func refuseBrowsers(_ request: Request) throws {
        let hasCookieOnly = request.headers.contains(.cookie) && !request.headers.contains(.authorization)
        guard !request.headers.contains(.origin), !hasCookieOnly else {
            throw APIError(.unauthorizedRequestOrigin, "Pages can't call the admin API")
        }
    }

    /// Returns the administrator who calls an endpoint of the admin API; `nil` for other endpoints.
    ///
    /// - Throws: 401 without a valid key, and 404 if the key is of another application.
    func administrator(calling request: Request, in scope: RequestScope) async throws -> Administrator? {
        guard case .administrator = endpoint.guards.access else { return nil }
        guard let token = try [CredentialSource.authorization].token(in: request.headers) else {
            throw CredentialSource.missing
        }
        let (administrator, isOfApplication) = try await services.administration.keys.administrator(
            presenting: token, from: scope.client, in: scope.application.application)
        guard isOfApplication else { throw APIError(.unknownApplication, "There is no such application") }
        return administrator
    }

    /// Records that an administrator lacks a scope.
    func audit(_ error: any Error, by administrator: Administrator) async throws {
        guard case AdministrationError.forbidden(let scope) = error else { return }
        let details: [String: JSONValue] = [
            "actor": administrator.actor.details, "operation": .string(endpoint.guards.name),
            "scope": .string(scope.rawValue),
        ]
        try await services.administration.trail.record(
            AuditEntry(.adminRefused, details: details), application: administrator.application.id)
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
