package import Accounts
package import Foundation
package import ProviderKit

/// The sessions of a browser, as an authorization request needs them.
package struct BrowserQuery: Sendable {
    /// SHA-256 of the cookie.
    package let browser: [UInt8]
    package let clientID, issuer: String
    /// The address of `login_hint`, if it is one.
    package let hint: Address?
    /// Whether the accounts that were merged into those of the browser are read, too.
    package let needsAbsorbed: Bool
    /// A code to store if the browser has exactly one live session.
    package let code: NewCode?
}

package protocol AuthorizationStore: BrowserAccountStore {
    /// The live sessions of the browser, and whether the query's code was stored, by one statement.
    func sessions(
        _ query: BrowserQuery, application: Application.ID
    ) async throws -> (sessions: [BrowserSession], isCodeStored: Bool)

    /// Stores a code of a live session, and removes the request that ends with it.
    /// - Returns: `false` if the session is not live, or the request has ended.
    func store(_ code: NewCode, of session: UUID, finishing request: [UInt8]?, application: Application.ID) async throws
        -> Bool

    /// Stores a code with which an app takes over a live session of a browser, and removes the request that ends with
    /// it.
    /// - Returns: `false` if the session is not live, or the request has ended.
    func store(
        _ handover: NewHandover, of session: UUID, finishing request: [UInt8]?, application: Application.ID
    ) async throws -> Bool

    /// Stores a request under the hash of its id.
    func store(_ request: StoredRequest, for lifetime: Duration, application: Application.ID) async throws

    /// Reads an open request; if it has no browser, ties it to this one and keeps it open for `lifetime`.
    /// - Returns: `nil` if it is unknown, expired, or of another client, issuer or browser.
    func request(
        _ hash: [UInt8], of client: String, at issuer: String, broughtBy browser: [UInt8], lifetime: Duration,
        application: Application.ID
    ) async throws -> StoredRequest?

    /// The id of the newest open request of the browser with this flow cookie, at any of the issuers.
    func newestRequest(of browser: [UInt8], at issuers: [String], application: Application.ID) async throws -> String?

    /// Reads a request of the browser with this flow cookie, even if it is over, and the accounts of the browser.
    /// - Returns: `nil` if the request is unknown or of another browser.
    func browserRequest(
        _ request: [UInt8], browser: [UInt8], sessions: [UInt8]?, application: Application.ID
    ) async throws -> BrowserRequest?

    /// Reads an open request, whichever browser has it.
    func openRequest(_ hash: [UInt8], application: Application.ID) async throws -> StoredRequest?

    /// Stores the progress of an open request.
    /// - Returns: `false` if the request has ended, or has changed since it was read.
    func update(_ request: StoredRequest, application: Application.ID) async throws -> Bool

    /// Ends a request without a code, and stores its progress.
    /// - Returns: `false` if it had ended.
    func end(_ request: StoredRequest, application: Application.ID) async throws -> Bool

    /// The owner of an installation of an app: the account that signed in on it; `nil` if the account is not live.
    func owner(_ uid: UUID, application: Application.ID) async throws -> InstanceOwner?

    /// Whether a code of a live session of the browser exists that was not redeemed and has not expired.
    func hasCode(_ code: [UInt8], browser: [UInt8], application: Application.ID) async throws -> Bool
}

package protocol BrowserAccountStore: Sendable {
    /// Reads the accounts of the browser with this cookie, by one statement.
    ///
    /// It notes the use of the session that is named or, with a single live one, of that.
    func accounts(
        of browser: [UInt8], using session: UUID?, application: Application.ID
    ) async throws -> [BrowserAccount]

    /// Keeps a live session of a browser for this time after its authentication, if that is longer; `idle` is how long it may stay unused.
    func keep(_ session: UUID, for lifetime: Duration, idle: Duration?, application: Application.ID) async throws

    /// Removes an expired session from the accounts of a browser.
    func forget(_ session: UUID, browser: [UInt8], application: Application.ID) async throws
}

/// An authorization request that is kept between calls.
package struct StoredRequest: Sendable {
    package let hash: [UInt8]
    /// The id in the URL, which is stored in the sealed part only.
    package let id: String?
    package let issuer: String
    package var request: ClientRequest
    package var progress = RequestProgress()
    /// SHA-256 of the flow cookie; `nil` until a browser brings the request.
    package var browser: [UInt8]?
    /// The stored form, by which an update recognises a request that has changed; `nil` if it is not stored yet.
    package var sealed: [UInt8]?

    package init(hash: [UInt8], id: String?, issuer: String, request: ClientRequest) {
        (self.hash, self.id, self.issuer, self.request) = (hash, id, issuer, request)
    }

    /// Creates a request under a new id.
    package init(_ id: OpaqueToken, issuer: String, request: ClientRequest) {
        self.init(hash: id.hash, id: id.text, issuer: issuer, request: request)
    }
}

extension StoredRequest {
    /// The addresses that the client or the person has typed.
    package var addresses: [Address] {
        [request.loginHint, progress.identifier, progress.challenge?.identifier]
            .compactMap { $0.flatMap(Address.init(typed:)) }
    }

    /// The sessions that the person has chosen, proven or consented with.
    package var sessions: [UUID] {
        [progress.session, progress.proven, progress.consented, progress.ending?.session].compactMap { $0 }
    }
}

extension AuthorizationStore {
    /// Stores the code that a request ends with, for the OpenID client or the app that has sent the request.
    /// - Returns: `false` if the session is not live, or the request has ended.
    func issue(
        _ code: OpaqueToken, for request: ClientRequest, of session: UUID, finishing hash: [UInt8]?,
        at issuer: Issuer, by opaque: any OpaqueTokens
    ) async throws -> Bool {
        let application = issuer.application.id
        if request.clientID == OwnClient.hosted.rawValue {
            let address = request.returnAddress
            let destination = FlowDestination(
                redirectURI: address.redirectURI, appState: address.state ?? "", codeChallenge: request.codeChallenge,
                opensShortSession: request.opensShortSession ?? false)
            let handover = NewHandover(
                code: code, state: opaque.make(), destination: destination, lifetime: Authorization.codeLifetime)
            return try await store(handover, of: session, finishing: hash, application: application)
        }
        let new = NewCode(hash: code.hash, request: request, issuer: issuer.url, lifetime: Authorization.codeLifetime)
        return try await store(new, of: session, finishing: hash, application: application)
    }

    /// Stores a request of a browser, and returns the request's id and the value of the flow cookie.
    ///
    /// `session` is the session that the person has chosen already, if any.
    func open(
        _ request: ClientRequest, for session: UUID? = nil, in browser: Authorization.Browser, at issuer: Issuer,
        by opaque: any OpaqueTokens
    ) async throws -> (id: String, flow: String) {
        let (id, flow) = (opaque.make(), browser.flow.flatMap(opaque.parse) ?? opaque.make())
        var stored = StoredRequest(id, issuer: issuer.url, request: request)
        (stored.browser, stored.progress.session) = (flow.hash, session)
        try await store(stored, for: issuer.settings.requestLifetime, application: issuer.application.id)
        return (id.text, flow.text)
    }
}
