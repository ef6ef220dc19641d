package import Foundation

/// Everything that the use cases refuse, one stable case each; `HTTPAPI` gives them their codes and statuses.
package enum AccountsError: Error, Sendable, Equatable {
    case missingParameter(String)
    /// - `reason` is for people and never repeats the value.
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
    /// The account is in its grace period; without a restore token the proof does not restore it.
    case accountDeleted(purgeAfter: Date, restoreToken: String?, Refusal)
    /// For admins alone: outside, an account that doesn't exist looks like a bad token.
    case accountNotFound(UUID)
    /// For admins alone: nobody has asked to delete it.
    case accountIsLive(UUID)
    case identityNotFound
    /// The identity is another account's; the ticket, where there is one, merges the two.
    case identityInUse(ticket: String?, Refusal)
    case lastUsableIdentity(Refusal)
    /// The ticket goes along with another sign-in of the account.
    case secondProofRequired(ticket: String, Refusal)
    /// The proof is right, and of nobody who could authenticate anew here.
    case foreignProof(Refusal)
    case mergeNotFound
    case receiptNotFound
    case rateLimited(retryAfter: Duration)
    /// A bounded queue is full: hashing or the database's.
    case overloaded(retryAfter: Duration)
    /// The database can't be reached, or did not say whether it carried a write out.
    case unavailable
    /// A sealed value that this key, at this place, doesn't open.
    case unreadableSecret
}

extension AccountsError {
    /// It says no, for good; the others say that nobody could decide.
    var isRefusal: Bool {
        switch self {
        case .overloaded, .unavailable, .unreadableSecret: false
        default: true
        }
    }
}
