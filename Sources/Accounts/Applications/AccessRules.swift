internal import ProviderKit

/// Which roles and claims an application's accounts may have.
package struct AccessRules: Sendable, Equatable {
    /// The most roles of an account.
    package static let mostRoles = 32
    /// How deep claims may be nested, counting the object of all claims.
    package static let deepestClaims = 4
    /// The highest `claimsLimit`; clients send the token with each request.
    package static let highestClaimsLimit = 4096

    /// The only roles that accounts may have; `nil` allows every name of the right form.
    package var roles: [String]?
    /// The largest size of all claims as a JSON object, in bytes.
    package var claimsLimit = 1000

    package init() {}

    /// Whether a name has the form of a role: `[a-z][a-z0-9_-]{0,31}`.
    package static func isRole(_ name: String) -> Bool {
        let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
        let signs = [UInt8(ascii: "_"), UInt8(ascii: "-")]
        guard let first = name.utf8.first, letters.contains(first), name.utf8.count <= 32 else { return false }
        return name.utf8.allSatisfy { letters.contains($0) || $0.isASCIIDigit || signs.contains($0) }
    }

    /// Returns the change with its roles sorted and without repetitions.
    /// - Throws: `AccountsError.invalidParameter` if a role or the claims are not allowed.
    package func checked(_ change: AccessChange) throws(AccountsError) -> AccessChange {
        var checked = change
        if let names = change.roles { checked.roles = try self.checked(roles: names) }
        if let claims = change.claims { try check(claims: claims) }
        return checked
    }

    private func checked(roles names: [String]) throws(AccountsError) -> [String] {
        guard names.allSatisfy(Self.isRole) else {
            throw .invalidParameter(
                "roles", reason: "has a name that is not 1 to 32 of a-z, 0-9, _ and -, the first a letter")
        }
        let distinct = Set(names).sorted()
        guard distinct.count <= Self.mostRoles else {
            throw .invalidParameter("roles", reason: "has more than \(Self.mostRoles) names")
        }
        if let roles, !distinct.allSatisfy(roles.contains) {
            let known = roles.isEmpty ? "it has none" : roles.joined(separator: ", ")
            throw .invalidParameter("roles", reason: "has a name that is none of the application's roles: \(known)")
        }
        return distinct
    }

    private func check(claims: [String: JSONValue]) throws(AccountsError) {
        guard JSONValue.object(claims).depth <= Self.deepestClaims else {
            throw .invalidParameter("claims", reason: "is nested more than \(Self.deepestClaims) deep")
        }
        var written = JSONObjectWriter()
        for (name, value) in claims { written.add(name, value) }
        guard written.finished().count <= claimsLimit else {
            throw .invalidParameter("claims", reason: "is larger than \(claimsLimit) bytes")
        }
    }
}

extension JSONValue {
    /// The number of objects and arrays around the innermost value.
    fileprivate var depth: Int {
        switch self {
        case .object(let members): 1 + (members.values.map(\.depth).max() ?? 0)
        case .array(let elements): 1 + (elements.map(\.depth).max() ?? 0)
        default: 0
        }
    }
}
