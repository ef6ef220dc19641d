internal import ProviderKit

/// A tenant, which shares no accounts, identities, sessions or settings with others.
///
/// This type is a class, because every request copies its reference several times.
package final class Application: Sendable {
    /// The number of an application in this database, which is the first column of every primary key.
    package struct ID: RawRepresentable, Hashable, Sendable, ExpressibleByIntegerLiteral, CustomStringConvertible {
        package let rawValue: Int32

        package init(rawValue: Int32) { self.rawValue = rawValue }
        package init(integerLiteral value: Int32) { self.init(rawValue: value) }
        package var description: String { "\(rawValue)" }
    }

    package let id: ID
    package let name: String
    /// The URL of the application, and the `iss` claim of the access tokens of its REST interface.
    package let issuer: String
    /// The `iss` claims of all access tokens that the REST interface accepts.
    package let issuers: [String]
    package let audience: String
    package let policy: ApplicationPolicy
    package let redirectURIs: [RedirectURI]
    package let providers: ProviderRegistry

    package init(
        id: ID, name: String, issuer: String, audience: String, policy: ApplicationPolicy,
        redirectURIs: [RedirectURI] = [], providers: ProviderRegistry, issuers: [String]? = nil
    ) {
        (self.id, self.name, self.issuer, self.audience) = (id, name, issuer, audience)
        self.issuers = issuers ?? [issuer]
        (self.policy, self.redirectURIs, self.providers) = (policy, redirectURIs, providers)
    }

    /// Whether the application's URL begins with `https:`.
    package var isSecure: Bool { issuer.hasPrefix("https:") }

    /// The same application, with other modes for the named providers.
    package func switching(_ modes: [String: ProviderMode]) -> Application {
        modes.isEmpty
            ? self
            : Application(
                id: id, name: name, issuer: issuer, audience: audience, policy: policy, redirectURIs: redirectURIs,
                providers: providers.switching(modes), issuers: issuers)
    }

    /// The redirect URI that is registered with the provider, and so must never change.
    package func callbackURL(of provider: String) -> String { "\(issuer)/api/v1/auth/oauth/\(provider)/callback" }
}
