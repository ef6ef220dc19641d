internal import HTTPTypes
internal import ProviderKit

/// A way to present a credential (OpenAPI 3.1, 4.8.27).
struct SecurityScheme: Sendable {
    let name: String
    let json: JSONValue

    static let accessToken = bearer("The access token of a session.", format: "JWT")
    static let serviceKey = bearer("A service key: `ghk_…`.", named: "serviceKey")

    /// A source in which a dialect's apps have the token of a session, which may be opaque.
    static func sessionToken(in source: CredentialSource) -> Self {
        let help = "The token of a session."
        switch source {
        case .authorization: return bearer(help)
        case .header(let field):
            return Self(
                name: field.rawName,
                json: [
                    "type": "apiKey", "in": "header", "name": .string(field.rawName), "description": .string(help),
                ])
        }
    }

    private static func bearer(_ help: String, named name: String = "bearer", format: String? = nil) -> Self {
        var json: [String: JSONValue] = ["type": "http", "scheme": "bearer", "description": .string(help)]
        json["bearerFormat"] = format.map { .string($0) }
        return Self(name: name, json: .object(json))
    }
}
