internal import Accounts
internal import Foundation
internal import ProviderKit

/// The pages that link an identity to the account that is signed in, and that end a conflict with another account.
///
/// A request of the account pages links one identity (`ClientRequest.linksProvider`): an address by a code, which is
/// sent for the browser's session alone, and any other one by a proof from its provider (`ProviderCallbacks`). If
/// another account has the identity, the person decides; the ticket for that stays in the request.
struct LinkSteps: StepActions {
    let proofs: StepProofs
    let identities: IdentityProofs
    let merging: AccountMerging
    let time: any TimeSource

    func perform(_ form: StepForm, on state: RequestState, _ context: RequestSteps.Context) async throws -> StepOutcome?
    {
        guard let account = state.candidate else { return nil }
        var state = state
        switch (form.step, form.action) {
        case (.link, .code(let identifier, _)):
            guard let identifier else { throw AccountsError.missingParameter("identifier") }
            state.progress.challenge = try await send(to: identifier, of: account, state, context)
        case (.code, .resend):
            guard let sent = state.progress.challenge else { throw AccountsError.missingParameter("identifier") }
            state.progress.challenge = try await send(to: sent.identifier, of: account, state, context)
        case (.code, .verify(let code)):
            guard let sent = state.progress.challenge, let code else { throw AccountsError.missingParameter("code") }
            try await proofs.limits.spend(asCallOf: "POST /api/v1/auth/identities/{identity}", context)
            let presented = PresentedOneTimeCode(challengeID: sent.id, code: code)
            return try await link(form, account, context) {
                try await identities.link(.oneTimeCode(presented), of: sent.provider, by: $0, from: $1)
            }
        case (.conflict, .keep), (.merge, .keep):
            (state.progress.pending, state.progress.joining, state.progress.hasLinked) = (nil, nil, true)
        case (.conflict, .merge):
            guard let conflict = state.progress.pending?.conflict, conflict.ticket != nil else { return nil }
            state.progress.pending = .merge(conflict)
        case (.conflict, .switchAccount), (.merge, .merge):
            guard let ticket = state.progress.pending?.conflict?.ticket else { return nil }
            try await proofs.limits.spend(asCallOf: "POST /api/v1/auth/merge", context)
            return try await link(form, account, context) { principal, client in
                guard case .merge(let survivor) = form.action else {
                    return try await merging.switchGuest(ticket: ticket, by: principal, from: client)
                }
                return try await merging.merge(
                    ticket: ticket, survivor: chosen(survivor), by: principal, from: client
                ).0
            }
        default: return nil
        }
        return .progressed(state)
    }

    /// The page of a merge with both accounts, or the page with why they cannot be merged any more.
    func completed(_ page: ShownStep, _ context: RequestSteps.Context) async throws -> ShownStep {
        guard page.name == .merge, let account = page.account, let ticket = page.progress.pending?.conflict?.ticket
        else { return page }
        let application = context.issuer.application
        var page = page
        do {
            let preview = try await merging.preview(ticket: ticket, by: account.principal(in: application))
            _ = try preview.plan(nil, in: application)
            page.merge = preview
        } catch let problem as AccountsError where problem.isForPerson {
            page.problem = problem
        }
        return page
    }

    /// Whether a form has merged accounts into this one a moment ago, which may have been proven earlier.
    func hasMerged(into account: BrowserAccount, by action: StepAction?) -> Bool {
        guard case .merge? = action else { return false }
        return .seconds(time.now().timeIntervalSince(account.lastUsedAt)) <= Authorization.codeLifetime
    }

    // MARK: - Use cases

    /// Calls a use case for the account, whose session stays remembered by the browser as it was.
    private func link(
        _ form: StepForm, _ account: BrowserAccount, _ context: RequestSteps.Context,
        by useCase: (Principal, Client) async throws -> SignedIn
    ) async throws -> StepOutcome {
        let cookie = proofs.cookie(after: form.action, formToken: form.token, context)
        let client = proofs.client(under: cookie, remember: account.isRemembered, context)
        return .linked(try await useCase(account.principal(in: context.issuer.application), client), under: cookie)
    }

    /// Sends a code that only the session of the account can present.
    private func send(
        to identifier: String, of account: BrowserAccount, _ state: RequestState, _ context: RequestSteps.Context
    ) async throws -> SentChallenge {
        let application = context.issuer.application
        try await proofs.limits.spend(.otpClient, of: RateSubject(context.client), in: application)
        let provider = try application.providers.named(state.request.linksProvider ?? "")
        let sent = try await proofs.codes.begin(
            identifier, ofKind: provider.kind, named: provider.name, by: account.principal(in: application),
            from: context.client, in: application)
        return SentChallenge(
            id: sent.id.text, kind: provider.kind, provider: provider.name, identifier: identifier,
            remember: account.isRemembered, isOfLink: true)
    }

    private func chosen(_ survivor: String?) throws(AccountsError) -> SurvivorChoice? {
        guard let survivor else { return nil }
        guard let choice = SurvivorChoice(bytesOf: survivor) else {
            throw .invalidParameter("survivor", reason: "must be current or other")
        }
        return choice
    }
}

extension ClientRequest {
    /// A request that links an identity to an account of the browser, and ends at the list of its identities.
    package static func linking(_ provider: String, to account: BrowserAccount, at issuer: Issuer) -> ClientRequest {
        var request = ClientRequest(endingAt: .identities, of: issuer)
        (request.subject, request.linksProvider) = (account.session.uid.text, provider)
        return request
    }
}

extension RequestState {
    /// Whether the request still has an identity to link.
    var isLinking: Bool { request.linksProvider != nil && progress.hasLinked != true }

    /// Whether the request is at the pages that link an identity, and not at a question before them.
    var isAtLink: Bool { isLinking && progress.pending == nil && isReadyToLink }

    /// Whether the request links an identity or merges accounts, for which the person must have authenticated lately.
    var changesAccounts: Bool { isLinking || progress.pending?.conflict != nil }

    /// Whether the form with this action links an identity or ends a conflict.
    func links(by action: StepAction) -> Bool {
        switch action {
        case .switchAccount, .merge: true
        case .verify: progress.challenge?.isOfLink == true
        default: false
        }
    }
}

extension RequestSituation {
    /// Requires a recent authentication; a proof in the pages of the request counts only as long as it is recent.
    mutating func requireRecentProof() {
        let recency = max(1, Int(recentAuthentication.components.seconds))
        guard progress.proven != nil else {
            request.maxAge = min(request.maxAge ?? recency, recency)
            return
        }
        (progress.proven, request.maxAge) = (nil, recency)
        request.prompts.subtract([.login, .create])
    }
}

extension Error {
    /// Whether the code was right and is used up, although it has not linked an identity.
    var usesUpCode: Bool {
        switch self as? AccountsError {
        case .secondProofRequired, .accountDeleted, .accountDisabled, .limitReached, .providerDisabled: true
        default: false
        }
    }
}
