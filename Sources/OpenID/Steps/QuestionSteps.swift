internal import Accounts
internal import Foundation
internal import ProviderKit

/// The answers to the questions of a request that need no proof: which account, whether to continue, and consent.
struct QuestionSteps: StepActions {
    let store: any AuthorizationStore
    let clientGrants: ClientGrants
    let opaque: any OpaqueTokens

    func perform(_ form: StepForm, on state: RequestState, _ context: RequestSteps.Context) async throws -> StepOutcome?
    {
        var state = state
        switch (form.step, form.action) {
        case (.code, .back): state.progress.challenge = nil
        case (.secondProof, .back): state.progress.pending = nil
        case (.signIn, .back) where state.progress.joining != nil:
            state.progress.pending = state.progress.joining.map { .newIdentity($0) }
            (state.progress.joining, state.progress.wantsOther) = (nil, false)
        case (.signIn, .back), (.signUp, .back): (state.progress.wantsOther, state.progress.identifier) = (false, nil)
        case (.accounts, .choose(let id)):
            state.progress.joining = nil
            state.choose(id)
        case (.accounts, .forget(let id)):
            guard let id = id.flatMap(UUID.init), let cookie = context.browser.sessions.flatMap(opaque.parse) else {
                break
            }
            try await store.forget(id, browser: cookie.hash, application: context.issuer.application.id)
        case (.accounts, .other), (.reauthenticate, .other), (.confirm, .other):
            (state.progress.wantsOther, state.progress.challenge) = (true, nil)
        case (.confirm, .proceed):
            (state.progress.confirmed, state.progress.hasActed) = (state.account(at: form.step)?.session.id, true)
        case (.consent, .allow):
            guard let account = state.account(at: form.step) else { break }
            try await clientGrants.allow(state.request, of: account.session.uid, at: state.issuer)
            (state.progress.consented, state.progress.hasActed) = (account.session.id, true)
        case (.consent, .deny): return .refused(.denied)
        default: return nil
        }
        return .progressed(state)
    }
}
