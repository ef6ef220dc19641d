internal import Accounts
internal import ProviderKit

/// Reads the state of a request, and describes the page of a step.
extension RequestSteps {
    enum Loaded { case open(RequestState), over(RequestState), fault(StepFault) }

    func load(_ context: Context) async throws -> Loaded {
        guard let id = opaque.parse(context.request), let flow = context.browser.flow.flatMap(opaque.parse),
            let stored = try await store.browserRequest(
                id.hash, browser: flow.hash, sessions: context.browser.sessions.flatMap(opaque.parse)?.hash,
                application: context.issuer.application.id),
            let issuer = context.issuer.named(stored.stored.issuer),
            let client = try await directory.client(of: stored.stored.request, at: issuer)
        else { return .fault(.notYours) }
        let state = state(of: stored, of: client, at: issuer, linked: context.linked)
        return stored.isOpen ? .open(state) : .over(state)
    }

    /// The request as it is now, with the accounts that the browser has under a new cookie.
    func reload(_ state: RequestState, _ context: Context, under cookie: OpaqueToken) async throws -> RequestState? {
        guard let flow = state.loaded.stored.browser else { return nil }
        let now = try await store.browserRequest(
            state.loaded.stored.hash, browser: flow, sessions: cookie.hash, application: context.issuer.application.id)
        return now.map { self.state(of: $0, of: state.client, at: state.issuer, linked: context.linked) }
    }

    private func state(
        of stored: BrowserRequest, of client: OAuthClient, at issuer: Issuer, linked: ShownStep.Name?
    ) -> RequestState {
        RequestState(stored, of: client, at: issuer, linked: linked) {
            issuer.subject(of: $0, for: client, by: opaque)
        }
    }

    func page(_ step: ShownStep.Name, of state: RequestState, _ context: Context) async throws -> ShownStep {
        let flow = context.browser.flow.flatMap(opaque.parse) ?? opaque.make()
        let token = FormToken(opaque: opaque, flow: flow, path: context.request)
        var page = ShownStep(
            name: step, request: state.request, client: state.client, accounts: state.loaded.accounts,
            account: state.account(at: step), progress: state.progress,
            formToken: token.text(showing: state.content(of: step)), offersSignUp: state.offersSignUp,
            offersQRCode: state.offersQRCode, opensAccounts: state.opensAccounts, isLinked: state.linked == step)
        if step == .qr, let code = state.progress.qrCode {
            let stored = try await qrCodes.store.qrCode(
                of: state.loaded.stored.hash, browser: flow.hash, application: context.issuer.application.id)
            page.qrCode = stored.map { ($0, state.issuer.url(ofQRCode: code)) }
        }
        if step == .confirm, let owner = state.client.instance?.account, owner != page.account?.session.uid {
            page.formerOwner = try await store.owner(owner, application: context.issuer.application.id)
        }
        if step == .deviceConfirm { page.device = state.progress.device?.requester.noticed(by: devices.places) }
        return try await links.completed(page, context)
    }
}
