internal import Accounts
internal import Foundation
internal import ProviderKit

/// What a request needs now.
enum PresentStep: Sendable {
    case page(ShownStep.Name)
    /// The request ends with this error.
    case refuse(OAuthError.Code)
    /// The request ends for this session.
    case finish(BrowserSession)
}

/// A request at one moment: what is stored, who is signed in, and what is asked next.
struct RequestState: Sendable {
    let visit: RequestVisit
    let client: OAuthClient
    var progress: RequestProgress
    let subject: @Sendable (UUID) -> String

    init(_ visit: RequestVisit, of client: OAuthClient, subject: @escaping @Sendable (UUID) -> String) {
        (self.visit, self.client, self.subject) = (visit, client, subject)
        progress = visit.stored.progress
    }

    var request: ClientRequest { visit.stored.request }
    var live: [BrowserAccount] { visit.accounts.filter(\.isLive) }

    var over: StepFault { .over(clientURI: client.uri) }

    private var next: NextStep { nextStep(for: situation) }

    private var situation: RequestSituation {
        var situation = RequestSituation(request: request, client: client)
        situation.progress = progress
        let hint = request.hintedAddress
        situation.sessions = live.map { account in
            var session = account.session
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
        if let step = progress.pending?.step {
            return .page(step == .secondProof && progress.challenge != nil ? .code : step)
        }
        return switch next {
        case .ask(let question): .page(step(asking: question))
        case .refuse(let code): .refuse(code)
        case .finish(let session): .finish(session)
        }
    }

    /// The page for a question.
    private func step(asking question: NextStep.Question) -> ShownStep.Name {
        if progress.challenge != nil, progress.wantsOther || [.signIn, .signUp, .reauthenticate].contains(question) {
            return .code
        }
        if progress.wantsOther { return .signIn }
        return switch question {
        case .signIn: .signIn
        case .signUp: .signUp
        case .accounts: .accounts
        case .reauthenticate: .reauthenticate
        case .newPassword: .newPassword
        case .confirm: .confirm
        case .consent: .consent
        }
    }

    /// The account that a page is about; pages to sign in and to choose an account are about none.
    func account(at step: ShownStep.Name) -> BrowserAccount? {
        switch step {
        case .signIn, .signUp, .forgot, .accounts, .secondProof, .newOrLink, .restore: nil
        case .code: progress.wantsOther || progress.pending != nil ? nil : candidate
        case .reauthenticate, .confirm, .consent, .welcome, .newPassword, .conflict, .merge: candidate
        }
    }

    /// What a page shows, by which its form is recognised: the step, and the account that it is about.
    func content(of step: ShownStep.Name) -> String { "\(step.rawValue) \(account(at: step)?.session.id.text ?? "")" }

    /// Goes on with an account of the browser; one whose session has expired must sign in again.
    mutating func choose(_ id: String?) {
        guard let id = id.flatMap(UUID.init),
            let account = visit.accounts.first(where: { $0.session.id == id })
        else { return }
        if account.isLive {
            (progress.session, progress.hasActed, progress.wantsOther) = (id, true, false)
            progress.challenge = nil
        } else {
            (progress.wantsOther, progress.identifier) = (true, account.address)
        }
    }

    private var candidate: BrowserAccount? {
        situation.candidateSession.flatMap { session in live.first { $0.session.id == session.id } }
    }
}
