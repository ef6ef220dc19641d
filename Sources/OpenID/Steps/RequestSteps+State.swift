internal import Accounts
internal import ProviderKit

/// Reads the state of a request, and describes the page of a step.
extension RequestSteps {
    enum Loaded { case open(RequestState), over(RequestState), fault(StepFault) }

    func load(_ visit: Visit) async throws -> Loaded {
        guard let id = opaque.parse(visit.request), let flow = visit.browser.flow.flatMap(opaque.parse),
            let stored = try await store.visit(
                id.hash, browser: flow.hash, sessions: visit.browser.sessions.flatMap(opaque.parse)?.hash,
                application: visit.issuer.application.id),
            let issuer = visit.issuer.named(stored.stored.issuer),
            let client = try await directory.client(of: stored.stored.request, at: issuer)
        else { return .fault(.notYours) }
        let state = state(of: stored, of: client, at: issuer, linked: visit.linked)
        return stored.isOpen ? .open(state) : .over(state)
    }

    /// The request as it is now, with the accounts that the browser has under a new cookie.
    func reload(_ state: RequestState, _ visit: Visit, under cookie: OpaqueToken) async throws -> RequestState? {
        guard let flow = state.visit.stored.browser else { return nil }
        let now = try await store.visit(
            state.visit.stored.hash, browser: flow, sessions: cookie.hash, application: visit.issuer.application.id)
        return now.map { self.state(of: $0, of: state.client, at: state.issuer, linked: visit.linked) }
    }

    private func state(
        of stored: RequestVisit, of client: OAuthClient, at issuer: Issuer, linked: ShownStep.Name?
    ) -> RequestState {
        RequestState(stored, of: client, at: issuer, linked: linked) {
            issuer.subject(of: $0, for: client, by: opaque)
        }
    }

    func page(_ step: ShownStep.Name, of state: RequestState, _ visit: Visit) async throws -> ShownStep {
        let flow = visit.browser.flow.flatMap(opaque.parse) ?? opaque.make()
        let token = FormToken(opaque: opaque, flow: flow, path: visit.request)
        var page = ShownStep(
            name: step, request: state.request, client: state.client, accounts: state.visit.accounts,
            account: state.account(at: step), progress: state.progress,
            formToken: token.text(showing: state.content(of: step)), offersSignUp: state.offersSignUp,
            offersQRCode: state.offersQRCode, opensAccounts: state.opensAccounts, isLinked: state.linked == step)
        if step == .qr, let code = state.progress.qrCode {
            let stored = try await qrCodes.store.qrCode(
                of: state.visit.stored.hash, browser: flow.hash, application: visit.issuer.application.id)
            page.qrCode = stored.map { ($0, state.issuer.url(ofQRCode: code)) }
        }
        if step == .confirm, let owner = state.client.instance?.account, owner != page.account?.session.uid {
            page.formerOwner = try await store.owner(owner, application: visit.issuer.application.id)
        }
        if step == .deviceConfirm { page.device = state.progress.device?.requester.noticed(by: devices.places) }
        return try await links.completed(page, visit)
    }
}
