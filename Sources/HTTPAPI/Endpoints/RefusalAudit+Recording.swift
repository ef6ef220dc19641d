internal import Accounts
internal import Logging
internal import ProviderKit

extension RefusalAudit {
    /// Records a refused proof, if no use case has; a failure to record it is logged and does not change the response.
    func record(
        _ refusal: any Error, of provider: String?, by principal: Principal?, from client: Client,
        in application: Application, operation: String, log: Logger
    ) async {
        guard let entry = AuditEntry(refusal: refusal, of: provider, by: principal, from: client) else { return }
        do {
            try await record(entry, from: client, in: application)
        } catch {
            log.error(
                "A refusal is missing in the audit", metadata: ["operation": "\(operation)", "error": "\(error)"])
        }
    }
}

extension AuditEntry {
    /// Creates the entry for a refused proof; `nil` if the error is not a refusal, or if a use case has already
    /// recorded it.
    ///
    /// Wrong passwords and codes are recorded by the SQL statements that count them; conflicts and closed accounts are
    /// recorded by the linking rules, with the account concerned.
    ///
    /// Without a principal the refusal names no account. Such refusals are not recorded one by one, but counted in one
    /// event `{"route", "network", "minute", "count", "refusals": {code or rule: count}}`.
    fileprivate init?(refusal: any Error, of provider: String?, by principal: Principal?, from client: Client) {
        guard let (code, rule) = Self.unaudited(refusal) else { return nil }
        var details: [String: JSONValue] = ["route": .string(client.route), "code": .string(code.rawValue)]
        details["rule"] = rule.map { .string($0) }
        details["dialect"] = client.dialect.map { .string($0) }
        details["provider"] = provider.map { .string($0) }
        self.init(.signInRefused, of: principal?.uid, session: principal?.sessionID, details: details)
    }

    private static func unaudited(_ error: any Error) -> (ErrorCode, rule: String?)? {
        if case ProviderError.refused? = error as? ProviderError { return (.invalidToken, nil) }
        guard let error = error as? AccountsError else { return nil }
        return switch error {
        case .providerDisabled(let refusal): (.providerDisabled, refusal.rule)
        case .foreignProof(let refusal): (.invalidCredentials, refusal.rule)
        case .untimedProof(let refusal): (.invalidToken, refusal.rule)
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
