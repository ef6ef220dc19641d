package import Accounts
package import Foundation

/// Signs a person in at a browser that an app shows, as the account that is signed in in the app.
///
/// The app gets a one-time secret, which the wire calls `css`, and sets it as a cookie of the browser. The first page that
/// opens there exchanges it for a session, which counts as borrowed: nothing was proven in the browser.
package struct NativeSignIn: Sendable {
    package typealias Store = NativeSecretStore & SessionEndStore

    /// How long the app may take to open the page.
    package static let lifetime: Duration = .seconds(300)

    let store: any Store
    let opaque: any OpaqueTokens

    // MARK: - The app

    /// A secret for the caller's app.
    /// - Throws: `AccountsError.tokenTooOld` for a guest and for a borrowed session; `AccountsError.invalidToken` if the
    ///   session has ended.
    package func secret(for principal: Principal) async throws -> String {
        guard !principal.isBorrowed else { throw AccountsError.tokenTooOld }
        switch try await issue(for: principal.sessionID, application: principal.application.id) {
        case .issued(let secret): return secret
        case .refused: throw AccountsError.tokenTooOld
        case .ended: throw AccountsError.invalidToken
        }
    }

    enum Issue {
        case issued(String)
        /// The session is a guest's, or borrowed.
        case refused
        case ended
    }

    func issue(for session: UUID, application: Application.ID) async throws -> Issue {
        let secret = opaque.make()
        let isIssued = try await retryingOnConflict {
            try await store.issue(
                nativeSecret: secret.hash, of: session, for: Self.lifetime, application: application)
        }
        return switch isIssued {
        case true?: .issued(secret.text)
        case false?: .refused
        case nil: .ended
        }
    }

    // MARK: - The browser

    /// Uses up the secret that the browser has brought, and returns the browser as it is then; `nil` if it has brought none.
    ///
    /// An unknown, used or late secret changes nothing but the app's cookie. If the account is signed in already, its
    /// session stays as it is. All sessions of the browser get a new cookie, because somebody may know the former one.
    package func arrive(
        _ browser: Authorization.Browser, from client: Client, at issuer: Issuer
    ) async throws -> NativeArrival? {
        guard let secret = browser.nativeSecret else { return nil }
        var arrival = NativeArrival(browser: browser)
        arrival.browser.nativeSecret = nil
        guard let token = opaque.parse(secret) else { return arrival }
        let (cookie, settings) = (opaque.make(), issuer.settings.browserSessions)
        let isKept = settings.remember == .always
        let use = NativeSecretUse(
            secret: token.hash, cookie: cookie.hash, replacing: browser.sessions.flatMap(opaque.parse)?.hash,
            lifetime: settings.lifetime, idle: isKept ? nil : settings.idle, device: client.device,
            address: client.address)
        let application = issuer.application.id
        let used = try await retryingOnConflict { try await store.use(use, application: application) }
        guard let used else { return arrival }
        arrival.session = used.session
        guard used.isNew else { return arrival }
        for surplus in used.surplus {
            _ = try await store.endSession(
                surplus.session, of: surplus.account, because: .signedOut, application: application)
        }
        arrival.browser.sessions = cookie.text
        arrival.cookie = SessionCookie(value: cookie.text, lifetime: isKept ? settings.lifetime : nil)
        return arrival
    }
}

/// A browser that has brought an app's secret.
package struct NativeArrival: Sendable {
    /// The browser with its present cookies.
    package var browser: Authorization.Browser
    /// The session of the app's account; `nil` if the secret was good for none.
    package var session: UUID?
    /// The new cookie of the browser's sessions, if it has changed.
    package var cookie: SessionCookie?
}

/// The session to open for an app's secret.
package struct NativeSecretUse: Sendable {
    package let secret: [UInt8]
    package let session = UUID.v7()
    /// SHA-256 of the browser's new cookie, and of the one that it has sent.
    package let cookie: [UInt8]
    package let replacing: [UInt8]?
    package let lifetime: Duration
    /// How long the session may stay unused; `nil` if the browser keeps it.
    package let idle: Duration?
    package let device: String?
    package let address: String
}

/// What an app's secret was good for.
package struct UsedNativeSecret: Sendable {
    package let session: UUID
    /// Whether the session was opened now; otherwise the account was signed in in the browser already.
    package let isNew: Bool
    /// The sessions that the browser has too many, those that were unused longest.
    package let surplus: [(session: UUID, account: UUID)]

    package init(session: UUID, isNew: Bool, surplus: [(session: UUID, account: UUID)]) {
        (self.session, self.isNew, self.surplus) = (session, isNew, surplus)
    }
}

package protocol NativeSecretStore: Sendable {
    /// Stores an app's secret.
    /// - Returns: `false` for the session of a guest and for a borrowed one; `nil` if the session is not live.
    func issue(
        nativeSecret hash: [UInt8], of session: UUID, for lifetime: Duration, application: Application.ID
    ) async throws -> Bool?

    /// Consumes an app's secret by one statement, and opens a session of the browser, which ends with the app's.
    /// - Returns: `nil` if the secret is unknown, used or expired, or if the app's session has ended.
    func use(_ use: NativeSecretUse, application: Application.ID) async throws -> UsedNativeSecret?
}
