public import Foundation

/// The session, with the names of Webcom's library for iOS.
public final class WCAuth: NSObject, Sendable {
    /// The account's id.
    public let uid: String
    /// The provider's name.
    public let provider: String
    /// The identity's id at the provider.
    public let providerUid: String
    /// When the identity was created, in seconds since the epoch.
    public let createdAt: TimeInterval
    /// When the session expires, in seconds since the epoch; with older servers, when the access token expires.
    public let expires: TimeInterval
    /// The name to show.
    public let displayName: String?
    /// The e-mail address, if it is known.
    public let email: String?
    private let keeper: SessionKeeper

    init(_ session: GatehouseClient.Session, keeper: SessionKeeper) {
        let auth = session.auth
        (uid, provider, providerUid) = (auth.uid, auth.provider, auth.providerUid)
        createdAt = auth.createdAt.timeIntervalSince1970
        expires = (auth.sessionExpires ?? auth.expires).timeIntervalSince1970
        displayName = auth.displayName
        email = auth.email ?? session.user.email
        self.keeper = keeper
    }

    /// The present access token, which changes with each renewal; empty after a sign-out.
    public var authToken: String { keeper.current.withLock { $0?.value ?? "" } }
}

extension NSError {
    /// The domain of errors of `WCWebcom`; `userInfo["code"]` is the code.
    public static let webcomDomain = "webcom"

    /// The code of an error of `WCWebcom`, such as `INVALID_CREDENTIALS`.
    public var webcomCode: String? { userInfo["code"] as? String }

    /// Converts an error to the form of Webcom's library; its `code` is the HTTP status, or 0.
    convenience init(_ error: GatehouseError, usesLegacyCodes: Bool) {
        let code = error.code
        let name = usesLegacyCodes ? code.legacy ?? code.rawValue : code.rawValue
        self.init(
            domain: Self.webcomDomain, code: error.refusal?.status ?? 0,
            userInfo: ["code": name, NSLocalizedDescriptionKey: error.message])
    }
}

extension GatehouseError.Code {
    /// The code's name in versions up to 1.3.2, if it was different.
    fileprivate var legacy: String? {
        switch self {
        case .invalidCredentials: "INVALID_PASSWORD"
        case .existingIdentity: "EMAIL_TAKEN"
        case .unverifiedIdentity: "UNVERIFIED_ACCOUNT"
        default: nil
        }
    }
}
