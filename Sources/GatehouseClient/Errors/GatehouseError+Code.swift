extension GatehouseError {
    /// The stable code of an error; codes that this version does not list are kept as they are.
    public struct Code: RawRepresentable, Sendable, Hashable, Codable {
        /// The code as the server writes it.
        public let rawValue: String

        /// Creates a code.
        public init(rawValue: String) { self.rawValue = rawValue }
    }
}

// swift-format-ignore: AllPublicDeclarationsHaveDocumentation
/// The codes of the server, which `docs/api.md` explains.
extension GatehouseError.Code {
    public static let missingParameter = Self(rawValue: "MISSING_PARAMETER")
    public static let invalidParameter = Self(rawValue: "INVALID_PARAMETER")
    public static let missingEmailOrPassword = Self(rawValue: "MISSING_EMAIL_OR_PASSWORD")
    public static let tooWeakPassword = Self(rawValue: "TOO_WEAK_PASSWORD")
    public static let unsupportedProvider = Self(rawValue: "UNSUPPORTED_PROVIDER")
    public static let providerDisabled = Self(rawValue: "PROVIDER_DISABLED")
    public static let unauthorizedRequestOrigin = Self(rawValue: "UNAUTHORIZED_REQUEST_ORIGIN")
    public static let unknownApplication = Self(rawValue: "UNKNOWN_APPLICATION")
    public static let invalidCredentials = Self(rawValue: "INVALID_CREDENTIALS")
    public static let identityTemporarilyLocked = Self(rawValue: "IDENTITY_TEMPORARILY_LOCKED")
    public static let unverifiedIdentity = Self(rawValue: "UNVERIFIED_IDENTITY")
    public static let existingIdentity = Self(rawValue: "EXISTING_IDENTITY")
    public static let invalidToken = Self(rawValue: "INVALID_TOKEN")
    public static let invalidRefreshToken = Self(rawValue: "INVALID_REFRESH_TOKEN")
    public static let invalidState = Self(rawValue: "INVALID_STATE")
    public static let tokenTooOld = Self(rawValue: "TOKEN_TOO_OLD")
    public static let identityInUse = Self(rawValue: "IDENTITY_IN_USE")
    public static let identityNotFound = Self(rawValue: "IDENTITY_NOT_FOUND")
    public static let sessionNotFound = Self(rawValue: "SESSION_NOT_FOUND")
    public static let limitReached = Self(rawValue: "LIMIT_REACHED")
    public static let lastUsableIdentity = Self(rawValue: "LAST_USABLE_IDENTITY")
    public static let secondProofRequired = Self(rawValue: "SECOND_PROOF_REQUIRED")
    public static let accountDisabled = Self(rawValue: "ACCOUNT_DISABLED")
    public static let accountDeleted = Self(rawValue: "ACCOUNT_DELETED")
    public static let rateLimited = Self(rawValue: "RATE_LIMITED")
    public static let overloaded = Self(rawValue: "OVERLOADED")
    public static let providerUnavailable = Self(rawValue: "PROVIDER_UNAVAILABLE")
    public static let httpsRequired = Self(rawValue: "HTTPS_REQUIRED")
    public static let notFound = Self(rawValue: "NOT_FOUND")
    /// `internal` is a keyword.
    public static let internalError = Self(rawValue: "INTERNAL")
    /// The person closed the provider's page (RFC 6749, 4.1.2.1).
    public static let accessDenied = Self(rawValue: "access_denied")
}

/// The codes of the library itself.
extension GatehouseError.Code {
    /// There was no answer.
    public static let networkError = Self(rawValue: "NETWORK_ERROR")
    /// The session could not be stored or read.
    public static let storageError = Self(rawValue: "STORAGE_ERROR")
    /// The answer is none of this API.
    public static let unexpectedAnswer = Self(rawValue: "UNEXPECTED_ANSWER")
    /// The call needs a session, and there is none.
    public static let signedOut = Self(rawValue: "SIGNED_OUT")
    /// The calling task was cancelled.
    public static let cancelled = Self(rawValue: "CANCELLED")
}
