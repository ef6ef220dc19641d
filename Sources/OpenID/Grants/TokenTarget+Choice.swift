internal import Accounts
internal import ProviderKit

extension TokenTarget {
    /// The part of a grant that the client's present configuration, and a borrowed session, still allow.
    func kept(of granted: ClientScope, isBorrowed: Bool) -> ClientScope {
        let scopes = available[""] ?? []
        func isKept(_ claim: String) -> Bool {
            RequestedClaims.scope(of: claim).map { scopes.containsBytes(of: $0.rawValue) } ?? true
        }
        var kept = granted
        kept.scopes.removeAll { !scopes.containsBytes(of: $0) || isBorrowed && StandardScope.isLending($0) }
        kept.resources.removeAll { available[$0] == nil }
        kept.claims.removeAll { !isKept($0) }
        kept.tokenClaims.removeAll { !isKept($0) }
        return kept
    }

    /// The scopes of the access token, and its one resource (RFC 8707, 2.2).
    ///
    /// The statements that use up codes and refresh tokens check the same (`suitsTarget`).
    func chosen(
        from granted: ClientScope, isBorrowed: Bool
    ) throws(OAuthError) -> (scopes: [String], resource: String?) {
        guard scopes.allSatisfy({ granted.scopes.containsBytes(of: $0) }) else {
            throw OAuthError(.invalidScope, "A refresh cannot ask for more than was granted")
        }
        let resources = granted.resources.filter { available[$0] != nil }
        if let resource {
            guard resources.containsBytes(of: resource) else {
                throw OAuthError(.invalidTarget, "A token is for one of the resources that were granted")
            }
        } else if resources.count > 1 {
            throw OAuthError(.invalidTarget, "Several resources were granted; name one of them")
        }
        let target = resource ?? resources.first
        let applicable = available[target ?? ""] ?? []
        let chosen = granted.scopes.filter { scope in
            applicable.containsBytes(of: scope) && (scopes.isEmpty || scopes.containsBytes(of: scope))
                && !(isBorrowed && StandardScope.isLending(scope))
        }
        guard !chosen.isEmpty else { throw .noScope }
        return (chosen, target)
    }
}
