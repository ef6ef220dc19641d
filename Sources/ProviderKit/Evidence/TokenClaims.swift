public import Foundation

/// The claims of a token whose signature and times are right.
public struct TokenClaims: Sendable, Equatable {
    /// Everything that the token says.
    public let all: [String: JSONValue]

    /// Claims as they stand in the token.
    public init(_ all: [String: JSONValue]) {
        self.all = all
    }

    /// A claim by name; `.null` where there is none.
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

    /// `auth_time`, unless it is the zero that some issuers write for a time that they don't know.
    public var statedAuthentication: Date? { authenticatedAt.flatMap { $0 > .epoch ? $0 : nil } }
    /// When the person proved who they are: `auth_time`, else `iat`; the epoch for a token that states neither.
    public var provenAt: Date { statedAuthentication ?? issuedAt ?? .epoch }

    /// `aud`, which may be one text or a list.
    public var audiences: [String] {
        self["aud"].string.map { [$0] } ?? self["aud"].array?.compactMap(\.string) ?? []
    }

    /// The token's one use; `nil` where nothing tells it from another.
    public func singleUse(by claim: String) -> SingleUse? {
        guard let value = self[claim].string, !value.isEmpty, let expiry else { return nil }
        return SingleUse(id: "\(issuer ?? "")\n\(claim)\n\(value)", expires: expiry)
    }

    /// Identifies a token without an id of its own by its issuer, audience, subject and time.
    ///
    /// Not the token's text, of which a copy can be made that differs and is valid too.
    public var singleUse: SingleUse? {
        guard let expiry else { return nil }
        let times = [issuedAt, expiry, authenticatedAt].map { $0.map { "\($0.timeIntervalSince1970)" } ?? "" }
        let texts = [issuer, audiences.sorted().joined(separator: " "), subject, id].map { $0 ?? "" }
        return SingleUse(id: "token\n" + (texts + times).joined(separator: "\n"), expires: expiry)
    }
}

extension Date {
    fileprivate static let epoch = Date(timeIntervalSince1970: 0)
}

extension JSONValue {
    /// A NumericDate (RFC 7519, 2), where it is one that a calendar knows.
    public var date: Date? {
        let seconds: Double? =
            switch self {
            case .integer(let value): Double(value)
            case .number(let value): value
            default: nil
            }
        // To the year 9999: a date beyond would not fit a database, and is nobody's.
        return seconds.flatMap { (0...253_402_300_799).contains($0) ? Date(timeIntervalSince1970: $0) : nil }
    }
}
