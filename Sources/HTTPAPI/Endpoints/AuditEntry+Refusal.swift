internal import Accounts
internal import ProviderKit

extension AuditEntry {
    /// Creates the entry for a refused proof; `nil` if the error is not a refusal, or if a use case has already
    /// recorded it.
    ///
    /// Wrong passwords and codes are recorded by the SQL statements that count them; conflicts and closed accounts are
    /// recorded by the linking rules, with the account concerned.
    ///
    /// `dialect` is the name of the dialect that the route belongs to, if any.
    ///
    /// Without a principal the refusal names no account. Such refusals are not recorded one by one, but counted in one
    /// event `{"route", "network", "minute", "count", "refusals": {code or rule: count}}`.
    init?(refusal error: any Error, route: String, dialect: String?, provider: String?, principal: Principal?) {
        guard let (code, rule) = Self.unaudited(error) else { return nil }
        var details: [String: JSONValue] = ["route": .string(route), "code": .string(code.rawValue)]
        details["rule"] = rule.map { .string($0) }
        details["dialect"] = dialect.map { .string($0) }
        details["provider"] = provider.map { .string($0) }
        self.init(.signInRefused, of: principal?.uid, session: principal?.sessionID, details: details)
    }

    private static func unaudited(_ error: any Error) -> (ErrorCode, rule: String?)? {
        if case ProviderError.refused? = error as? ProviderError { return (.invalidToken, nil) }
        guard let error = error as? AccountsError else { return nil }
        return switch error {
        case .providerDisabled(let refusal): (.providerDisabled, refusal.rule)
        case .foreignProof(let refusal): (.invalidCredentials, refusal.rule)
        case .lastUsableIdentity(let refusal): (.lastUsableIdentity, refusal.rule)
        case .otherIdentityRequired(let refusal): (.tokenTooOld, refusal.rule)
        case .limitReached(_, let refusal): (.limitReached, refusal.rule)
        case .identityTemporarilyLocked: (.identityTemporarilyLocked, nil)
        case .unverifiedIdentity: (.unverifiedIdentity, nil)
        case .invalidToken, .expiredToken: (.invalidToken, nil)
        case .insufficientScope: (.insufficientScope, nil)
        case .invalidRefreshToken: (.invalidRefreshToken, nil)
        case .invalidState: (.invalidState, nil)
        case .tokenTooOld: (.tokenTooOld, nil)
        default: nil
        }
    }
}
