internal import Accounts
internal import HTTPTypes
internal import ProviderKit

/// The REST interface of one family of apps: other paths, bodies and error texts for operations that all clients share.
///
/// A dialect only declares endpoints. Access rules, rate limits and audit events belong to the operations, so they are
/// the same as in version 1 of the API.
protocol Dialect: Sendable {
    /// The key below `applications.*.dialects`, and the name in the audit.
    static var name: String { get }
    /// The beginnings of its paths; unknown paths below them are 404 in the dialect's form.
    static var bases: [String] { get }
    /// Where requests may have their token.
    static var credentials: [CredentialSource] { get }
    /// The header fields that its clients send from browsers, besides those of version 1 of the API.
    static var requestFields: [HTTPField.Name] { get }
    /// Writes an error at a path below `bases` that no endpoint serves.
    static var writesError: ErrorWriter { get }
    /// How a session of its clients is kept; `nil` where the dialect is off.
    static func renewal(in settings: DialectSettings) -> Renewal?
    /// What its client says about its device in fields of its own; `nil` if it says nothing.
    static func device(in headers: HTTPFields) -> String?
    static func endpoints(_ operations: Operations) -> [Endpoint]
}

extension Dialect {
    static func device(in headers: HTTPFields) -> String? { nil }

    /// Whether an application has the dialect; `nil` stands for a request whose application is unknown.
    static func isOn(in scope: RequestScope?) -> Bool {
        scope.flatMap { renewal(in: $0.application.dialects) } != nil
    }
}

extension HTTPAPI {
    /// All dialects; each is off unless an application names it.
    static let dialects: [any Dialect.Type] = [Immich.self, TimeTracker.self]

    /// The header fields that clients of the application's dialects send from browsers.
    static func requestFields(in scope: RequestScope) -> [String] {
        dialects.filter { $0.isOn(in: scope) }.flatMap { $0.requestFields.map(\.rawName) }
    }
}

extension Endpoint {
    /// Returns the endpoint as one of a dialect.
    ///
    /// Its calls count toward the limit `general` together with those of the endpoint at `path` of version 1 of the
    /// API, so that a client cannot double the limit by alternating between the two.
    func spoken(in dialect: any Dialect.Type, countedAs path: String? = nil) -> Endpoint {
        var endpoint = self
        endpoint.dialect = dialect
        if let path { endpoint.route = "\(method.rawValue) \(base)\(path)" }
        return endpoint
    }
}
