package import ProviderKit

/// The roles and claims of an account, which only administrators set.
///
/// Access tokens carry them nested, under `roles` and `claims`, so that no claim replaces one of the token's own.
package struct AccountAccess: Sendable, Equatable {
    /// Names of roles, sorted and without repetitions.
    package var roles: [String]
    package var claims: [String: JSONValue]

    package init(roles: [String] = [], claims: [String: JSONValue] = [:]) {
        (self.roles, self.claims) = (roles, claims)
    }

    /// The members of an access token; those that are empty are left out.
    package var tokenMembers: [String: JSONValue] {
        var members: [String: JSONValue] = [:]
        if !roles.isEmpty { members["roles"] = .array(roles.map { .string($0) }) }
        if !claims.isEmpty { members["claims"] = .object(claims) }
        return members
    }

    package func has(role: String) -> Bool { roles.contains { $0.hasSameBytes(as: role) } }
}

/// A change of an account's roles and claims; `nil` keeps a value.
package struct AccessChange: Sendable, Equatable {
    /// Replaces all roles.
    package var roles: [String]?
    /// Replaces all claims.
    package var claims: [String: JSONValue]?
    /// Whether the account's sessions end, so that no earlier access token is accepted any more.
    package var endsSessions: Bool

    package init(roles: [String]? = nil, claims: [String: JSONValue]? = nil, endsSessions: Bool = false) {
        (self.roles, self.claims, self.endsSessions) = (roles, claims, endsSessions)
    }
}
