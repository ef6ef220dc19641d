internal import Accounts
internal import Foundation
internal import ProviderKit

/// What a request needs now.
enum PresentStep: Sendable {
    case page(ShownStep.Name)
    /// A proof has come from a provider's pages, and is used at once.
    case arrived(ProviderCallback)
    /// The request ends with this error.
    case refuse(OAuthError.Code)
    /// The request ends for this session.
    case finish(BrowserSession)
}

/// A request at one moment: the stored request, the browser's sessions, and the next step.
struct RequestState: Sendable {
    let loaded: BrowserRequest
    let client: OAuthClient
    let issuer: Issuer
    /// The page that a link of another page leads to.
    let linked: ShownStep.Name?
    var progress: RequestProgress
    let subject: @Sendable (UUID) -> String

    init(
        _ loaded: BrowserRequest, of client: OAuthClient, at issuer: Issuer, linked: ShownStep.Name?,
        subject: @escaping @Sendable (UUID) -> String
    ) {
        (self.loaded, self.client, self.issuer, self.linked, self.subject) = (loaded, client, issuer, linked, subject)
        progress = loaded.stored.progress
    }

    var request: ClientRequest { loaded.stored.request }
    var live: [BrowserAccount] { loaded.accounts.filter(\.isLive) }
    var over: StepFault {
        switch client.own {
        case .accountPages?, .device?: .over(clientURI: request.returnAddress.redirectURI)
        case .hosted?, nil: .over(clientURI: client.uri)
        }
    }

    private var situation: RequestSituation {
        var situation = RequestSituation(request: request, client: client)
        situation.recentAuthentication = issuer.application.policy.recentAuthentication
        situation.progress = progress
        if let deviceClient { situation.client.allowsGuests = deviceClient.allowsGuests }
        if changesAccounts { situation.requireRecentProof() }
        // The link may have led to another account than the one that it began with.
        if request.linksProvider != nil, !isLinking { situation.request.subject = nil }
        let hint = request.hintedAddress
        situation.sessions = live.map { account in
            var session = account.session
            // A guest cannot authenticate again.
            if session.isGuest, changesAccounts { session.age = 0 }
            // What changes accounts needs a proof, and nothing was proven in a borrowed session.
            if session.isBorrowed, changesAccounts { session.age = .max }
            session.isRequired = request.subject.map { session.isNamed($0, by: subject) } ?? false
            session.isPreferred =
                switch hint {
                case .email(let email)?: account.emails.contains(email.value)
                case .phone(let phone)?: account.phones.contains(phone.value)
                case nil: false
                }
            return session
        }
        return situation
    }

    /// What the request needs now: a decision that is pending, or else the next question, unless nothing is left.
    var present: PresentStep {
        if client.own == .device, deviceClient == nil { return .page(.device) }
        switch progress.pending {
        case .arrival(let callback, _)?: return .arrived(callback)
        // The session of the new account has ended meanwhile.
        case .welcome? where candidate == nil: break
        case let pending?:
            guard let step = pending.step, pending.conflict == nil || isReadyToLink else { break }
            return .page(following(step == .secondProof && progress.challenge != nil ? .code : step))
        case nil: break
        }
        return switch nextStep(for: situation) {
        case .ask(let question): .page(following(step(asking: question)))
        case .refuse(let code): .refuse(code)
        case .finish where isLinking: .page(progress.challenge?.isOfLink == true ? .code : .link)
        case .finish where client.own == .device: .page(.deviceConfirm)
        case .finish(let session): .finish(session)
        }
    }

    /// Whether the account is signed in, and was proven lately enough to link an identity or to merge.
    var isReadyToLink: Bool {
        switch nextStep(for: situation) {
        case .ask(.signIn), .ask(.signUp), .ask(.accounts), .ask(.reauthenticate), .refuse: false
        case .ask(.newPassword), .ask(.confirm), .ask(.consent), .finish: true
        }
    }

    /// The page for a question.
    private func step(asking question: NextStep.Question) -> ShownStep.Name {
        if progress.challenge != nil, progress.wantsOther || [.signIn, .signUp, .reauthenticate].contains(question) {
            return .code
        }
        if progress.qrCode != nil, offersQRCode, progress.wantsOther || [.signIn, .signUp].contains(question) {
            return .qr
        }
        if progress.wantsOther { return question == .signUp && offersSignUp ? .signUp : .signIn }
        return switch question {
        case .signIn: .signIn
        case .signUp: offersSignUp ? .signUp : .signIn
        case .accounts: .accounts
        case .reauthenticate: .reauthenticate
        case .newPassword: .newPassword
        case .confirm: .confirm
        case .consent: .consent
        }
    }

    // MARK: - Links between pages

    /// The only account that may end the request, as the client knows it; `nil` if any may.
    var requiredSubject: String? { request.linksProvider == nil ? request.subject : nil }

    /// Whether the request names another account than that of a session, which is not to be signed in then.
    func forbids(_ session: BrowserSession) -> Bool {
        requiredSubject.map { !session.isNamed($0, by: subject) } ?? false
    }

    /// Whether a person who has no account can open one with a code.
    var offersSignUp: Bool { opensAccounts && issuer.sendsCodesForSignUp }

    /// Whether a proof may open an account.
    ///
    /// A request that requires an account, or links an identity to one, opens none. Nor does a person who signs in to
    /// the account that an identity is to join.
    var opensAccounts: Bool { request.subject == nil && request.linksProvider == nil && progress.joining == nil }

    /// The page that a link has led to, if the present page has that link; otherwise the present page.
    private func following(_ step: ShownStep.Name) -> ShownStep.Name {
        switch (step, linked) {
        case (.signIn, .signUp) where offersSignUp: .signUp
        case (.signUp, .signIn): .signIn
        case (.signIn, .forgot), (.signUp, .forgot), (.reauthenticate, .forgot), (.secondProof, .forgot):
            issuer.application.providers.admitsPasswords ? .forgot : step
        default: step
        }
    }

    // MARK: - The account

    /// The account that a page is about; pages to sign in and to choose an account are about none.
    func account(at step: ShownStep.Name) -> BrowserAccount? {
        switch step {
        case .signIn, .signUp, .forgot, .done, .accounts, .secondProof, .newOrLink, .restore, .qr, .device: nil
        case .code: progress.wantsOther || progress.pending != nil ? nil : candidate
        case .reauthenticate, .confirm, .consent, .deviceConfirm, .welcome, .newPassword, .link, .conflict, .merge:
            candidate
        }
    }

    /// Whether the authentication of a session is recent enough to set a password.
    func isRecent(_ session: BrowserSession) -> Bool { situation.isRecent(session) }

    /// Identifies what a page shows, so that its form can be matched to it: the step, and the account, code or device
    /// that it is about.
    func content(of step: ShownStep.Name) -> String {
        let shown = step == .qr ? progress.qrCode : account(at: step)?.session.id.text
        let device = step == .deviceConfirm ? progress.device?.userCode.text : nil
        return "\(step.rawValue) \(shown ?? "") \(device ?? "")"
    }

    /// Goes on with an account of the browser; one whose session has expired must sign in again.
    mutating func choose(_ id: String?) {
        guard let id = id.flatMap(UUID.init),
            let account = loaded.accounts.first(where: { $0.session.id == id })
        else { return }
        if account.isLive {
            (progress.session, progress.hasActed, progress.wantsOther) = (id, true, false)
            progress.challenge = nil
        } else {
            (progress.wantsOther, progress.identifier) = (true, account.address)
        }
    }

    var candidate: BrowserAccount? {
        situation.candidateSession.flatMap { session in live.first { $0.session.id == session.id } }
    }
}

extension RequestProgress {
    /// The progress of a request right after a proof; a new account is welcomed, and the device stays that of `former`.
    init(provenBy session: UUID, isNewAccount: Bool, after former: RequestProgress) {
        self.init()
        (device, wrongUserCodes) = (former.device, former.wrongUserCodes)
        (self.session, proven, hasActed) = (session, session, true)
        if isNewAccount { pending = .welcome }
    }

    /// The progress of a request after another device has opened a session, in which nothing is proven.
    init(borrowing session: UUID, after former: RequestProgress) {
        self.init()
        (device, wrongUserCodes) = (former.device, former.wrongUserCodes)
        (self.session, hasActed) = (session, true)
    }
}

extension Issuer {
    /// Whether a code can be sent to somebody who has no account, and opens one.
    package var sendsCodesForSignUp: Bool {
        [Address.Kind.email, .phone].contains { application.providers.challengeProvider(for: $0)?.mode == .open }
    }
}
