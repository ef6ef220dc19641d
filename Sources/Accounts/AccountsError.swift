package import Foundation

/// The errors of the use cases.
///
/// `HTTPAPI` maps each case to a code and a status.
package enum AccountsError: Error, Sendable, Equatable {
    case missingParameter(String)
    /// `reason` is for people and never repeats the value.
    case invalidParameter(String, reason: String)
    case missingEmailOrPassword
    case tooWeakPassword([PasswordWeakness])
    case unsupportedProvider(String)
    case providerDisabled(Refusal)
    case invalidCredentials
    case identityTemporarilyLocked(retryAfter: Duration)
    case unverifiedIdentity
    case existingIdentity
    case invalidToken
    case invalidRefreshToken
    /// Of a redirect flow: unknown, expired, used, or another flow's.
    case invalidState
    /// A redirect URI that the application has not registered.
    case redirectNotAllowed
    case tokenTooOld
    case sessionNotFound
    case accountDisabled(Refusal)
    /// The account is in its grace period. Without a restore token the proof cannot restore it.
    case accountDeleted(purgeAfter: Date, restoreToken: String?, Refusal)
    /// For admins only: other clients get `invalidToken` for an account that does not exist.
    case accountNotFound(UUID)
    /// For admins only: no deletion was requested.
    case accountIsLive(UUID)
    case identityNotFound
    /// The identity belongs to another account. The ticket, if there is one, merges the two.
    case identityInUse(ticket: String?, Refusal)
    case lastUsableIdentity(Refusal)
    /// The ticket accompanies another sign-in of the account.
    case secondProofRequired(ticket: String, Refusal)
    /// The proof is valid but of another account, and cannot re-authenticate the principal.
    case foreignProof(Refusal)
    case mergeNotFound
    case receiptNotFound
    case rateLimited(retryAfter: Duration)
    /// A bounded queue is full: hashing or the database's.
    case overloaded(retryAfter: Duration)
    /// The database is not reachable, or did not confirm a write.
    case unavailable
    /// A sealed value that this key does not open in this place.
    case unreadableSecret
}

extension AccountsError {
    /// Whether the error is a decision.
    ///
    /// The others report that no decision was possible.
    var isRefusal: Bool {
        switch self {
        case .overloaded, .unavailable, .unreadableSecret: false
        default: true
        }
    }
}
