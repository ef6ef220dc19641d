/// The stable codes of the error envelope.
///
/// Codes may be added but never renamed or removed, because clients branch on them.
package enum ErrorCode: String, Sendable, CaseIterable, Codable {
    case missingParameter = "MISSING_PARAMETER"
    case invalidParameter = "INVALID_PARAMETER"
    case missingEmailOrPassword = "MISSING_EMAIL_OR_PASSWORD"
    case tooWeakPassword = "TOO_WEAK_PASSWORD"
    case unsupportedProvider = "UNSUPPORTED_PROVIDER"
    case providerDisabled = "PROVIDER_DISABLED"
    case unauthorizedRequestOrigin = "UNAUTHORIZED_REQUEST_ORIGIN"
    case unknownApplication = "UNKNOWN_APPLICATION"
    case invalidCredentials = "INVALID_CREDENTIALS"
    case identityTemporarilyLocked = "IDENTITY_TEMPORARILY_LOCKED"
    case unverifiedIdentity = "UNVERIFIED_IDENTITY"
    case existingIdentity = "EXISTING_IDENTITY"
    case invalidToken = "INVALID_TOKEN"
    case invalidState = "INVALID_STATE"
    case invalidRefreshToken = "INVALID_REFRESH_TOKEN"
    case tokenTooOld = "TOKEN_TOO_OLD"
    case identityInUse = "IDENTITY_IN_USE"
    case identityNotFound = "IDENTITY_NOT_FOUND"
    case limitReached = "LIMIT_REACHED"
    case lastUsableIdentity = "LAST_USABLE_IDENTITY"
    case secondProofRequired = "SECOND_PROOF_REQUIRED"
    case sessionNotFound = "SESSION_NOT_FOUND"
    case accountDisabled = "ACCOUNT_DISABLED"
    case accountDeleted = "ACCOUNT_DELETED"
    case rateLimited = "RATE_LIMITED"
    case overloaded = "OVERLOADED"
    case providerUnavailable = "PROVIDER_UNAVAILABLE"
    case notFound = "NOT_FOUND"
    case methodNotAllowed = "METHOD_NOT_ALLOWED"
    case payloadTooLarge = "PAYLOAD_TOO_LARGE"
    case unsupportedMediaType = "UNSUPPORTED_MEDIA_TYPE"
    case httpsRequired = "HTTPS_REQUIRED"
    case insufficientScope = "INSUFFICIENT_SCOPE"
    case grantNotFound = "GRANT_NOT_FOUND"
    case qrNotFound = "QR_NOT_FOUND"
    case qrCompleted = "QR_COMPLETED"
    case qrExpired = "QR_EXPIRED"
    case qrWrongNumber = "QR_WRONG_NUMBER"
    case wrongPIN = "WRONG_PIN"
    case existingPIN = "EXISTING_PIN"
    case pinNotSet = "PIN_NOT_SET"
    case forbidden = "FORBIDDEN"
    case accountNotFound = "ACCOUNT_NOT_FOUND"
    case wrongState = "WRONG_STATE"
    case confirmationRequired = "CONFIRMATION_REQUIRED"
    case planStale = "PLAN_STALE"
    case wouldLockOutAdmins = "WOULD_LOCK_OUT_ADMINS"
    case lastOwner = "LAST_OWNER"
    case invalidProviderSettings = "INVALID_PROVIDER_SETTINGS"
    case `internal` = "INTERNAL"

    /// The members of `details` that an error of this code may have.
    var details: [String] {
        let ofRules = ["rule", "reason", "remedies"]
        return switch self {
        case .providerDisabled, .invalidCredentials, .lastUsableIdentity, .accountDisabled: ofRules
        case .identityInUse: ofRules + ["mergeToken"]
        case .accountDeleted: ofRules + ["purgeAfter", "restoreToken"]
        case .secondProofRequired: ofRules + ["ticket"]
        case .limitReached: ofRules + ["limit"]
        case .tooWeakPassword: ["reasons"]
        case .forbidden: ["scope"]
        case .confirmationRequired: ["confirm"]
        case .invalidProviderSettings: ["problems"]
        default: []
        }
    }

    package var status: Int {
        switch self {
        case .missingParameter, .invalidParameter, .missingEmailOrPassword, .tooWeakPassword, .invalidState,
            .httpsRequired, .wrongPIN, .existingPIN, .pinNotSet, .invalidProviderSettings:
            400
        case .invalidCredentials, .invalidToken, .invalidRefreshToken: 401
        case .providerDisabled, .unauthorizedRequestOrigin, .unverifiedIdentity, .tokenTooOld, .accountDisabled,
            .accountDeleted, .secondProofRequired, .insufficientScope, .qrWrongNumber,
            .forbidden:
            403
        case .unsupportedProvider, .unknownApplication, .identityNotFound, .sessionNotFound, .grantNotFound,
            .qrNotFound, .notFound, .accountNotFound:
            404
        case .methodNotAllowed: 405
        case .existingIdentity, .identityInUse, .lastUsableIdentity, .limitReached, .qrCompleted, .wrongState,
            .confirmationRequired, .planStale, .wouldLockOutAdmins, .lastOwner:
            409
        case .qrExpired: 410
        case .payloadTooLarge: 413
        case .unsupportedMediaType: 415
        case .identityTemporarilyLocked, .rateLimited: 429
        case .internal: 500
        case .overloaded, .providerUnavailable: 503
        }
    }
}
