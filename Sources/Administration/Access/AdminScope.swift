/// A right of administrators, by its name on the wire; `Role` names the sets that people get.
package enum AdminScope: String, Sendable, CaseIterable, Comparable {
    case readServer = "server:read"
    case readAccounts = "accounts:read"
    /// Unmasked fields, and searches by the beginning of an address or name.
    case revealAccounts = "accounts:reveal"
    case writeAccounts = "accounts:write"
    /// Roles and claims of accounts.
    case accessOfAccounts = "accounts:access"
    /// Recovery links that are shown instead of sent.
    case recoverAccounts = "accounts:recover"
    case eraseAccounts = "accounts:erase"
    case exportAccounts = "accounts:export"
    case readAudit = "audit:read"
    case writeDeliveries = "deliveries:write"
    case writeProviders = "providers:write"
    case writeKeys = "keys:write"
    case writeLimits = "limits:write"
    /// Grants and service keys.
    case writeAdmins = "admins:write"

    /// Whether a service key may have the scope: what needs a person present is left to people.
    package var isForKeys: Bool { self != .writeAdmins && self != .recoverAccounts }

    /// The order of the declaration, in which lists of scopes are written.
    package static func < (one: Self, other: Self) -> Bool { one.position < other.position }

    private var position: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

extension AdminScope {
    /// A fixed set of scopes that a person is granted.
    package enum Role: String, Sendable, CaseIterable {
        case owner, `operator`, support, auditor

        package var scopes: Set<AdminScope> {
            switch self {
            case .owner: Set(AdminScope.allCases)
            case .operator: [.readServer, .writeDeliveries, .writeProviders, .writeKeys, .writeLimits]
            case .support: [.readServer, .readAccounts, .revealAccounts, .writeAccounts, .writeLimits]
            case .auditor: [.readServer, .readAccounts, .readAudit]
            }
        }
    }
}
