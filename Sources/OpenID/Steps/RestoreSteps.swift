internal import Accounts
internal import ProviderKit

/// The page of an account in its grace period, which restores the account or leaves it deleted.
struct RestoreSteps: StepActions {
    let deletion: AccountDeletion
    let proofs: StepProofs

    func perform(_ form: StepForm, on state: RequestState, _ context: RequestSteps.Context) async throws -> StepOutcome?
    {
        guard case .restore(let token, _, let remember)? = state.progress.pending else { return nil }
        switch form.action {
        case .restore:
            try await proofs.limits.spend(asCallOf: "POST /api/v1/auth/account/restore", context)
            let cookie = proofs.cookie(after: form.action, formToken: form.token, context)
            let signedIn = try await deletion.restore(
                with: token, from: proofs.client(under: cookie, remember: remember, context),
                in: context.issuer.application)
            return .proven(signedIn, under: cookie)
        case .leave:
            var state = state
            state.progress.pending = nil
            return .progressed(state)
        default: return nil
        }
    }
}
