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
    /// Its paths; one that ends with `/` contains all paths below it, where unknown ones are 404 in the dialect's form.
    static var bases: [String] { get }
    /// The paths that a proxy before the apps' own back end has to pass on; `*` stands for any end.
    static func proxiedPaths(in settings: DialectSettings) -> [String]
    /// Where requests may have their token.
    static var credentials: [CredentialSource] { get }
    /// The header fields that its clients send from browsers, besides those of version 1 of the API.
    static var requestFields: [HTTPField.Name] { get }
    /// Writes an error at a path below `bases` that no endpoint serves.
    static var writesError: ErrorWriter { get }
    /// The schema of the body that `writesError` writes.
    static var errorSchema: JSONSchema { get }
    /// How a session of its clients is kept; `nil` where the dialect is off.
    static func renewal(in settings: DialectSettings) -> Renewal?
    /// The device as the dialect's own header fields describe it; `nil` if they are absent.
    static func device(in headers: HTTPFields) -> String?
    static func endpoints(_ operations: Operations) -> [Endpoint]
}

extension Dialect {
    static func device(in headers: HTTPFields) -> String? { nil }
    static func proxiedPaths(in settings: DialectSettings) -> [String] {
        bases.map { $0.hasSuffix("/") ? $0 + "*" : $0 }
    }

    /// Whether a path, without an application's prefix, is one of the dialect's paths.
    static func owns(_ path: String) -> Bool {
        bases.contains { $0.hasSuffix("/") ? path.hasPrefix($0) : path.hasSameBytes(as: $0) }
    }

    /// Whether an application has the dialect; `nil` stands for a request whose application is unknown.
    static func isOn(in scope: RequestScope?) -> Bool {
        scope.flatMap { renewal(in: $0.application.dialects) } != nil
    }
}

extension HTTPAPI {
    /// All dialects; each is off unless an application names it.
    static let dialects: [any Dialect.Type] = [Immich.self, TimeTracker.self]

    /// The names of the dialects that settings turn on, and the paths that a proxy has to pass on for each.
    package static func proxiedPaths(for settings: DialectSettings) -> [(dialect: String, paths: [String])] {
        dialects.filter { $0.renewal(in: settings) != nil }.map { dialect in
            (dialect.name, dialect.proxiedPaths(in: settings) + [base + "/*"])
        }
    }

    /// The names of two dialects that settings turn on and that serve a common path; `nil` if there are none.
    package static func conflict(in settings: DialectSettings) -> (String, String)? {
        dialects.filter { $0.renewal(in: settings) != nil }.conflict
    }

    /// Where clients of the application may have their token, whichever interface they know.
    static func credentials(in scope: RequestScope) -> [CredentialSource] {
        guard scope.application.hasDialects else { return [.authorization] }
        return [.authorization] + dialects.filter { $0.isOn(in: scope) }.flatMap { $0.credentials }
    }

    /// The header fields that clients of the application's dialects send from browsers.
    static func requestFields(in scope: RequestScope) -> [String] {
        dialects.filter { $0.isOn(in: scope) }.flatMap { $0.requestFields.map(\.rawName) }
    }
}

extension [any Dialect.Type] {
    /// The names of two dialects of which one serves a path of the other; `nil` if there are none.
    var conflict: (String, String)? {
        for (index, one) in enumerated() {
            for other in self[..<index]
            where other.bases.contains(where: one.owns) || one.bases.contains(where: other.owns) {
                return (other.name, one.name)
            }
        }
        return nil
    }
}

extension Endpoint {
    /// Returns the endpoint as one of a dialect.
    func spoken(in dialect: any Dialect.Type) -> Endpoint {
        var endpoint = self
        endpoint.dialect = dialect
        return endpoint
    }

    /// Returns the endpoint with calls that count toward the limit `general` together with those of the first of
    /// `endpoints` that serves the same operation, so that a client cannot multiply the limit by alternating.
    func sharingLimits(of endpoints: [Endpoint]) -> Endpoint {
        var endpoint = self
        endpoint.route = endpoints.first { $0.guards.name == guards.name }?.route ?? route
        return endpoint
    }
}
