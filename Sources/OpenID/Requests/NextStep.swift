package import Foundation
internal import ProviderKit

/// A live session of an account in a browser, as far as the next step depends on it.
package struct BrowserSession: Sendable, Equatable {
    package var id, uid: UUID
    /// The accounts that were merged into this one, as far as they were asked for.
    package var absorbed: [UUID] = []
    /// Seconds since the authentication by the database's clock, as the difference of whole seconds: the same number
    /// that a client computes from `auth_time`.
    package var age: Int
    package var isGuest = false
    /// Whether another device or an app has opened the session, and nothing was proven in it since.
    package var isBorrowed = false
    /// Whether that was an app, without the person's doing in this browser.
    package var isOfApp = false
    /// Whether an admin requires a new password.
    package var needsNewPassword = false
    /// Whether the request's `login_hint` is an address of the account.
    package var isPreferred = false
    /// Whether the request requires this account, by an ID token or by `claims`.
    package var isRequired = false
    /// When the client last got a code from this session.
    package var lastUsedByClient: Date?
    /// The scopes and resources that the account has allowed the client.
    package var consented: Set<String> = []

    package init(id: UUID, uid: UUID, age: Int) {
        (self.id, self.uid, self.age) = (id, uid, age)
    }

    /// Whether a client knows the account, or one that was merged into it, by this subject.
    func isNamed(_ subject: String, by name: (UUID) -> String) -> Bool {
        ([uid] + absorbed).contains { name($0).hasSameBytes(as: subject) }
    }
}

/// What has happened in the pages of one authorization request.
package struct RequestProgress: Sendable, Codable, Equatable {
    /// The session that the person has chosen, or opened by a proof.
    package var session: UUID?
    /// The session whose account the person has proven in this request.
    package var proven: UUID?
    /// Whether the person has typed or pressed something.
    package var hasActed = false
    /// The session whose account the person uses in the app.
    package var confirmed: UUID?
    /// The session whose account has allowed the client what it asks for.
    package var consented: UUID?
    /// Whether the person wants to sign in with an account that is not among those of the browser.
    package var wantsOther = false
    /// The address that the page to sign in shows: that of an account whose session has expired.
    package var identifier: String?
    /// The code that was sent to the person.
    package var challenge: SentChallenge?
    /// The code of the page that a phone confirms.
    package var qrCode: String?
    /// What the person decides before the request goes on.
    package var pending: PendingDecision?
    /// Why the person has come back from a provider's pages without a usable proof, by the code that the page shows.
    package var providerError: String?
    /// The proof of an identity that joins the account that the person signs in to.
    package var joining: ProviderCallback?
    /// Whether the identity of a request to link one was linked, or left to the account that it belongs to.
    package var hasLinked: Bool?
    /// The device whose code the person has typed, and the number of wrong codes that were typed.
    package var device: WaitingDevice?
    package var wrongUserCodes: Int?
    /// How the request has ended, unless it is open or has ended with a code.
    package var ending: RequestEnding?

    package init() {}
}

/// The answer to the form that has ended a request without a code.
package struct RequestEnding: Sendable, Codable, Equatable {
    /// The form and its action, or `nil` if the request was ended by something else.
    let form: String?
    /// The session with which the pages of the account go on.
    package let session: UUID?
    /// The error that the request's client receives.
    let error: OAuthError
}

/// A code that a person has been sent at the pages of a request.
package struct SentChallenge: Sendable, Codable, Equatable {
    package let id: String
    /// The kind and the name of the provider.
    package let kind, provider: String
    /// The address, as the person typed it.
    package let identifier: String
    /// Whether the session is to be remembered after the browser closes.
    package let remember: Bool
    /// Whether the code links the address instead of signing in.
    package var isOfLink: Bool?
}

/// All that the next step depends on.
package struct RequestSituation: Sendable {
    package var request: ClientRequest
    package var client: OAuthClient
    /// The live sessions of the browser.
    package var sessions: [BrowserSession] = []
    package var progress = RequestProgress()
    /// How long after an authentication a password may be set.
    package var recentAuthentication: Duration = .seconds(300)

    package init(request: ClientRequest, client: OAuthClient) {
        (self.request, self.client) = (request, client)
    }
}

/// What an authorization request needs next.
package enum NextStep: Sendable, Equatable {
    package enum Question: String, Sendable, CaseIterable {
        case signIn = "signin"
        case signUp = "signup"
        case newPassword = "new-password"
        case accounts, reauthenticate, confirm, consent
    }

    /// The person is asked by a page.
    case ask(Question)
    /// The request ends with this error.
    case refuse(OAuthError.Code)
    /// The request ends with a code of this session.
    case finish(BrowserSession)
}

/// Decides what an authorization request needs next.
///
/// The first rule that applies decides. With `prompt=none` a question becomes its error.
package func nextStep(for situation: RequestSituation) -> NextStep {
    let candidate: BrowserSession
    switch situation.candidate {
    case .one(let session): candidate = session
    case .several: return situation.ask(.accounts, or: .accountSelectionRequired)
    case .none: return situation.askToSignIn()
    }
    if situation.progress.wantsOther { return situation.askToSignIn() }
    let (request, client, progress) = (situation.request, situation.client, situation.progress)
    let isChosen = progress.session == candidate.id
    if request.subject != nil, !candidate.isRequired {
        return isChosen ? .refuse(.accessDenied) : situation.askToSignIn()
    }
    if request.hintedAddress != nil, !candidate.isPreferred, !candidate.isRequired, !isChosen {
        return situation.askToSignIn()
    }
    if candidate.isGuest, !client.allowsGuests { return situation.askToSignIn() }
    if request.prompts.contains(.selectAccount), !isChosen { return .ask(.accounts) }
    if request.prompts.contains(.create), progress.proven != candidate.id { return .ask(.signUp) }
    if situation.needsProof(by: candidate) { return situation.ask(.reauthenticate, or: .loginRequired) }
    if let levels = request.claims.essentialLevels, !levels.contains(candidate.isGuest ? "0" : "1") {
        return .refuse(.unmetAuthenticationRequirements)
    }
    if candidate.needsNewPassword {
        return situation.ask(situation.isRecent(candidate) ? .newPassword : .reauthenticate, or: .interactionRequired)
    }
    if situation.needsConfirmation(of: candidate) { return situation.ask(.confirm, or: .interactionRequired) }
    if situation.needsConsent(of: candidate) { return situation.ask(.consent, or: .consentRequired) }
    return .finish(candidate)
}

extension RequestSituation {
    /// The session that the answer would be about, unless the person has to choose it.
    var candidateSession: BrowserSession? {
        if case .one(let session) = candidate { session } else { nil }
    }

    fileprivate enum Candidate { case none, one(BrowserSession), several }

    /// The session that the answer would be about.
    ///
    /// If several accounts are signed in, no hint selects one that an app has signed in: another person may have
    /// planted their session in this browser.
    fileprivate var candidate: Candidate {
        if let chosen = sessions.first(where: { $0.id == progress.session }) { return .one(chosen) }
        let hinted =
            sessions.first(where: \.isRequired) ?? (request.subject == nil ? sessions.first(where: \.isPreferred) : nil)
        if let hinted { return hinted.isOfApp && sessions.count > 1 ? .several : .one(hinted) }
        guard sessions.count > 1 else { return sessions.first.map { .one($0) } ?? .none }
        let used = sessions.filter { $0.lastUsedByClient != nil }
            .max { ($0.lastUsedByClient ?? .distantPast) < ($1.lastUsedByClient ?? .distantPast) }
        guard request.isSilent, let used else { return .several }
        return .one(used)
    }

    fileprivate func ask(_ question: NextStep.Question, or error: OAuthError.Code) -> NextStep {
        request.isSilent ? .refuse(error) : .ask(question)
    }

    /// Asks a person who is not signed in to sign in, or to open an account if the client requests that.
    fileprivate func askToSignIn() -> NextStep {
        ask(request.prompts.contains(.create) ? .signUp : .signIn, or: .loginRequired)
    }

    /// Whether an authentication is recent enough to set a password.
    func isRecent(_ session: BrowserSession) -> Bool {
        !session.isBorrowed && .seconds(session.age) <= recentAuthentication
    }

    /// Whether the authentication is too old for the request, and not proven again in it.
    ///
    /// A QR code proves nothing: its session began when the phone answered, but the person may have signed in on the phone
    /// long before. The session of an app has the time at which the person signed in there.
    fileprivate func needsProof(by candidate: BrowserSession) -> Bool {
        if progress.proven == candidate.id { return false }
        if request.prompts.contains(.login) { return true }
        guard let maxAge = request.maxAge else { return false }
        return maxAge == 0 || candidate.age > maxAge || candidate.isBorrowed && !candidate.isOfApp
    }

    /// Whether the person has to continue by a press: in an app, unless something was typed or pressed before.
    ///
    /// In an installation of another account's app it must be the press on the page that names both accounts.
    fileprivate func needsConfirmation(of candidate: BrowserSession) -> Bool {
        guard client.asksToConfirm, client.isNative(redirectingTo: request.returnAddress.redirectURI) else {
            return false
        }
        if let owner = client.instance?.account, owner != candidate.uid { return progress.confirmed != candidate.id }
        return !progress.hasActed
    }

    fileprivate func needsConsent(of candidate: BrowserSession) -> Bool {
        guard progress.consented != candidate.id else { return false }
        if request.prompts.contains(.consent) { return true }
        guard !client.isFirstParty else { return false }
        return !request.consentScopes.union(request.resources).isSubset(of: candidate.consented)
    }
}
