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
            stored.stored.issuer.hasSameBytes(as: visit.issuer.url),
            let client = visit.issuer.client(of: stored.stored.request)
        else { return .fault(.notYours) }
        let state = state(of: stored, of: client, visit)
        return stored.isOpen ? .open(state) : .over(state)
    }

    /// The request as it is now, with the accounts that the browser has under a new cookie.
    func reload(_ state: RequestState, _ visit: Visit, under cookie: OpaqueToken) async throws -> RequestState? {
        guard let flow = state.visit.stored.browser else { return nil }
        let now = try await store.visit(
            state.visit.stored.hash, browser: flow, sessions: cookie.hash, application: visit.issuer.application.id)
        return now.map { self.state(of: $0, of: state.client, visit) }
    }

    private func state(of stored: RequestVisit, of client: OAuthClient, _ visit: Visit) -> RequestState {
        RequestState(stored, of: client, at: visit.issuer, linked: visit.linked) {
            visit.issuer.subject(of: $0, for: client, by: opaque)
        }
    }

    func page(_ step: ShownStep.Name, of state: RequestState, _ visit: Visit) async throws -> ShownStep {
        let flow = visit.browser.flow.flatMap(opaque.parse) ?? opaque.make()
        let token = FormToken(opaque: opaque, flow: flow, path: visit.request)
        let page = ShownStep(
            name: step, request: state.request, client: state.client, accounts: state.visit.accounts,
            account: state.account(at: step), progress: state.progress,
            formToken: token.text(showing: state.content(of: step)), offersSignUp: state.offersSignUp,
            opensAccounts: state.opensAccounts,
            isLinked: state.linked == step)
        return try await links.completed(page, visit)
    }
}
