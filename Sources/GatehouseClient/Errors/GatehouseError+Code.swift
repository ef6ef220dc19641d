extension GatehouseError {
    /// The stable code of an error; a code that this version of the library does not list keeps its `rawValue`.
    public struct Code: RawRepresentable, Sendable, Hashable, Codable {
        /// The code as the server sends it.
        public let rawValue: String

        /// Creates a code from the server's string.
        public init(rawValue: String) { self.rawValue = rawValue }
    }
}

/// The codes of the server, which `docs/api.md` explains.
extension GatehouseError.Code {
    /// A field of the request is missing.
    public static let missingParameter = Self(rawValue: "MISSING_PARAMETER")
    /// A field of the request is malformed.
    public static let invalidParameter = Self(rawValue: "INVALID_PARAMETER")
    /// The e-mail address or the password is missing in a sign-in with a password.
    public static let missingEmailOrPassword = Self(rawValue: "MISSING_EMAIL_OR_PASSWORD")
    /// The new password is too weak; the refusal's `reasons` say why.
    public static let tooWeakPassword = Self(rawValue: "TOO_WEAK_PASSWORD")
    /// The server has no such provider.
    public static let unsupportedProvider = Self(rawValue: "UNSUPPORTED_PROVIDER")
    /// The provider is switched off for this application or this operation.
    public static let providerDisabled = Self(rawValue: "PROVIDER_DISABLED")
    /// The redirect URI is not on the application's list.
    public static let unauthorizedRequestOrigin = Self(rawValue: "UNAUTHORIZED_REQUEST_ORIGIN")
    /// The server has no such application.
    public static let unknownApplication = Self(rawValue: "UNKNOWN_APPLICATION")
    /// The address, the password or the code is wrong.
    public static let invalidCredentials = Self(rawValue: "INVALID_CREDENTIALS")
    /// Too many wrong passwords; wait for `retryAfter`.
    public static let identityTemporarilyLocked = Self(rawValue: "IDENTITY_TEMPORARILY_LOCKED")
    /// The address is not verified yet.
    public static let unverifiedIdentity = Self(rawValue: "UNVERIFIED_IDENTITY")
    /// The address already has an account; sent only if the application is configured to reveal that.
    public static let existingIdentity = Self(rawValue: "EXISTING_IDENTITY")
    /// A token is wrong, used or expired.
    public static let invalidToken = Self(rawValue: "INVALID_TOKEN")
    /// The session has ended.
    public static let invalidRefreshToken = Self(rawValue: "INVALID_REFRESH_TOKEN")
    /// The redirect flow is unknown or expired, or the values belong to another flow.
    public static let invalidState = Self(rawValue: "INVALID_STATE")
    /// The call requires a recent sign-in: call `reauthenticate`, then repeat the call.
    public static let tokenTooOld = Self(rawValue: "TOKEN_TOO_OLD")
    /// The identity belongs to another account; if the refusal has a `mergeToken`, `merge` joins the two accounts.
    public static let identityInUse = Self(rawValue: "IDENTITY_IN_USE")
    /// The account has no such identity.
    public static let identityNotFound = Self(rawValue: "IDENTITY_NOT_FOUND")
    /// The account has no such session.
    public static let sessionNotFound = Self(rawValue: "SESSION_NOT_FOUND")
    /// The account already has the greatest number of identities that is allowed, the refusal's `limit`.
    public static let limitReached = Self(rawValue: "LIMIT_REACHED")
    /// No identity would remain with which the person can sign in.
    public static let lastUsableIdentity = Self(rawValue: "LAST_USABLE_IDENTITY")
    /// A second proof is required: sign in with another identity of the account and the refusal's `ticket`.
    public static let secondProofRequired = Self(rawValue: "SECOND_PROOF_REQUIRED")
    /// An administrator has disabled the account.
    public static let accountDisabled = Self(rawValue: "ACCOUNT_DISABLED")
    /// The account is deleted; `restoreAccount` restores it with the refusal's `restoreToken`.
    public static let accountDeleted = Self(rawValue: "ACCOUNT_DELETED")
    /// Too many calls; wait for `retryAfter`.
    public static let rateLimited = Self(rawValue: "RATE_LIMITED")
    /// The server is busy; wait for `retryAfter`.
    public static let overloaded = Self(rawValue: "OVERLOADED")
    /// The provider's service does not answer; wait for `retryAfter`.
    public static let providerUnavailable = Self(rawValue: "PROVIDER_UNAVAILABLE")
    /// The server refuses plain HTTP.
    public static let httpsRequired = Self(rawValue: "HTTPS_REQUIRED")
    /// There is nothing at the path.
    public static let notFound = Self(rawValue: "NOT_FOUND")
    /// The server failed unexpectedly.
    public static let internalError = Self(rawValue: "INTERNAL")
    /// The person closed the provider's page (RFC 6749, 4.1.2.1).
    public static let accessDenied = Self(rawValue: "access_denied")
}

/// The codes of the library itself.
extension GatehouseError.Code {
    /// The server could not be reached, or its answer was lost.
    public static let networkError = Self(rawValue: "NETWORK_ERROR")
    /// The session could not be stored or read.
    public static let storageError = Self(rawValue: "STORAGE_ERROR")
    /// The response does not come from this API.
    public static let unexpectedAnswer = Self(rawValue: "UNEXPECTED_ANSWER")
    /// The call needs a session, and there is none.
    public static let signedOut = Self(rawValue: "SIGNED_OUT")
    /// The calling task was cancelled.
    public static let cancelled = Self(rawValue: "CANCELLED")
}
