package import Foundation

/// The errors of the use cases; `HTTPAPI` maps each case to a code and a status.
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
    case unverifiedIdentity, existingIdentity, invalidToken, invalidRefreshToken
    /// The token has expired. Only calls whose clients then refresh their tokens throw it; others throw `invalidToken`.
    case expiredToken
    /// The token is valid, but of an OpenID client that may not call the API.
    case insufficientScope
    /// The `state` of a redirect flow is unknown, expired, used or belongs to another flow.
    case invalidState
    case redirectNotAllowed, tokenTooOld, sessionNotFound
    case accountDisabled(Refusal)
    /// The account is in its grace period; the proof can restore it only if there is a restore token.
    case accountDeleted(purgeAfter: Date, restoreToken: String?, Refusal)
    /// The account does not exist; only admins get this error, other clients get `invalidToken`.
    case accountNotFound(UUID)
    /// No deletion of the account was requested; only admins get this error.
    case accountIsLive(UUID)
    case identityNotFound
    /// The PIN is wrong; the account has one already; it has none, or one that was wrong too often.
    case wrongPIN, existingPIN, pinNotSet
    /// The identity belongs to another account; the ticket, if there is one, permits merging the two accounts.
    case identityInUse(ticket: String?, Refusal)
    case lastUsableIdentity(Refusal)
    /// A review can neither keep nor remove the identity.
    case identityNotReviewable(Refusal)
    /// The principal's identity must not change an administrator's identity (`RoleIdentityStore`).
    case otherIdentityRequired(Refusal)
    /// The account would have more than `limit` identities.
    case limitReached(limit: Int, Refusal)
    /// A second proof is required: the client repeats the ticket when it signs in to the account with another identity.
    case secondProofRequired(ticket: String, Refusal)
    /// The proof is valid, but it belongs to another account and cannot re-authenticate the principal.
    case foreignProof(Refusal)
    /// The proof is valid, but its provider does not state when the person authenticated there.
    case untimedProof(Refusal)
    case mergeNotFound, receiptNotFound
    /// The account has given the OpenID client nothing.
    case grantNotFound
    /// A code of a sign-in by QR: unknown or of another account, answered, expired, or answered with a wrong number.
    case qrNotFound, qrCompleted, qrExpired, qrWrongNumber
    case rateLimited(retryAfter: Duration)
    /// The queue for password hashing or for database connections is full.
    case overloaded(retryAfter: Duration)
    /// The database is not reachable, did not confirm a write, or lacks something that it needs, such as disk space.
    case unavailable(reason: String)
    /// A sealed value cannot be opened: the key is wrong, or the value was sealed for another place.
    case unreadableSecret

    /// Whether the error is a decision to refuse the call, instead of a failure to reach a decision.
    package var isRefusal: Bool {
        switch self {
        case .overloaded, .unavailable, .unreadableSecret: false
        default: true
        }
    }
}
