internal import Accounts
internal import ProviderKit

extension Issuer {
    /// Where an issuer's endpoints are, below the application's URL.
    ///
    /// Both places of an application share accounts, cookies, keys and the claims endpoint. Codes, refresh tokens and
    /// registrations belong to the place at which they began.
    package enum Place: String, Sendable, CaseIterable, Decodable {
        case plain
        /// The paths that apps of Blitz Identity Provider expect.
        case blitz

        /// The path of the issuer's URL.
        package var base: String { self == .plain ? "" : "/blitz" }

        /// The path of an endpoint, below the application's URL.
        package func path(of endpoint: Endpoint) -> String {
            switch self {
            case .plain: endpoint.rawValue
            case .blitz: base + (endpoint.shortened ?? endpoint.rawValue)
            }
        }
    }

    /// The endpoints that discovery lists, by their paths.
    package enum Endpoint: String, Sendable, CaseIterable {
        case discovery = "/.well-known/openid-configuration"
        case metadata = "/.well-known/oauth-authorization-server"
        case keys = "/.well-known/jwks.json"
        case authorization = "/oauth/authorize"
        case token = "/oauth/token"
        case userInfo = "/oauth/userinfo"
        case registration = "/oauth/register"
        case introspection = "/oauth/introspect"
        case revocation = "/oauth/revoke"
        case logout = "/oauth/logout"
        case pushedRequests = "/oauth/par"
        case device = "/oauth/device"

        /// The path at Blitz's place, if it has a name of its own there.
        fileprivate var shortened: String? {
            switch self {
            case .authorization: "/oauth/ae"
            case .token: "/oauth/te"
            case .userInfo: "/oauth/me"
            case .device: "/oauth/da"
            default: nil
            }
        }
    }

    /// The URL of an endpoint.
    package func url(of endpoint: Endpoint) -> String { application.issuer + place.path(of: endpoint) }

    /// The URLs of the application's issuers, each of which its tokens may carry.
    package var urls: [String] { settings.issuers(at: application.issuer) }

    /// The application's issuer with this URL.
    package func named(_ url: String) -> Issuer? {
        settings.places.first { url.hasSameBytes(as: application.issuer + $0.base) }.map(at)
    }

    package func at(_ place: Place) -> Issuer { Issuer(application: application, settings: settings, at: place) }
}

extension OpenIDSettings {
    /// The places of the application's issuers.
    package var places: [Issuer.Place] { Issuer.Place.allCases.filter { $0 == .plain || paths.contains($0) } }

    /// The URLs of the issuers of the application at a URL.
    package func issuers(at url: String) -> [String] { places.map { url + $0.base } }
}
