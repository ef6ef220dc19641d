public import Foundation

/// The claims of a verified token.
public struct TokenClaims: Sendable, Equatable {
    /// All claims by name.
    public let all: [String: JSONValue]

    /// Creates claims from a token's payload.
    public init(_ all: [String: JSONValue]) { self.all = all }

    /// A claim by name; `.null` if there is none.
    public subscript(name: String) -> JSONValue { all[name] ?? .null }

    /// `iss`.
    public var issuer: String? { self["iss"].string }
    /// `sub`, unless it is empty.
    public var subject: String? { self["sub"].string.flatMap { $0.isEmpty ? nil : $0 } }
    /// `jti`, unless it is empty.
    public var id: String? { self["jti"].string.flatMap { $0.isEmpty ? nil : $0 } }
    /// `exp`.
    public var expiry: Date? { self["exp"].date }
    /// `iat`.
    public var issuedAt: Date? { self["iat"].date }
    /// `auth_time` (OpenID Connect Core, 2).
    public var authenticatedAt: Date? { self["auth_time"].date }

    /// `auth_time`, unless it is 0, which some issuers send for an unknown time.
    public var statedAuthentication: Date? { authenticatedAt.flatMap { $0 > .epoch ? $0 : nil } }
    /// When the person authenticated: `auth_time`, else `iat`, else the epoch.
    public var provenAt: Date { statedAuthentication ?? issuedAt ?? .epoch }

    /// `aud`, which may be a string or a list.
    public var audiences: [String] { self["aud"].string.map { [$0] } ?? self["aud"].array?.compactMap(\.string) ?? [] }

    /// Identifies the token by a claim such as `jti`; `nil` if the token lacks that claim or `exp`.
    public func singleUse(by claim: String) -> SingleUse? {
        guard let value = self[claim].string, !value.isEmpty, let expiry else { return nil }
        return SingleUse(id: "\(issuer ?? "")\n\(claim)\n\(value)", expires: expiry)
    }

    /// Identifies a token by its issuer, audience, subject, `jti`, `nonce` and times; `nil` if it lacks `exp`.
    ///
    /// The token's text does not identify the token, because a different encoding of the same token may also be valid.
    public var singleUse: SingleUse? {
        guard let expiry else { return nil }
        let times = [issuedAt, expiry, authenticatedAt].map { $0.map { "\($0.timeIntervalSince1970)" } ?? "" }
        let texts = [issuer, audiences.sorted().joined(separator: " "), subject, id].map { $0 ?? "" }
        let nonce = self["nonce"].string.map { [$0] } ?? []
        return SingleUse(id: "token\n" + (texts + times + nonce).joined(separator: "\n"), expires: expiry)
    }
}

extension Date {
    fileprivate static let epoch = Date(timeIntervalSince1970: 0)
}

extension JSONValue {
    /// A NumericDate (RFC 7519, 2) up to the year 9999; later dates do not fit the database.
    public var date: Date? {
        let seconds: Double? =
            switch self {
            case .integer(let value): Double(value)
            case .number(let value): value
            default: nil
            }
        return seconds.flatMap { (0...253_402_300_799).contains($0) ? Date(timeIntervalSince1970: $0) : nil }
    }
}
