internal import Accounts
internal import ProviderKit

/// The page of an account in its grace period, which restores the account or leaves it deleted.
struct RestoreSteps: StepActions {
    let deletion: AccountDeletion
    let sessions: any SessionEndStore
    let proofs: StepProofs

    func perform(_ form: StepForm, on state: RequestState, _ context: RequestSteps.Context) async throws -> StepOutcome?
    {
        guard case .restore(let token, _, let remember, let keepsSession)? = state.progress.pending else { return nil }
        switch form.action {
        case .restore:
            try await proofs.limits.spend(asCallOf: "POST /api/v1/auth/account/restore", context)
            let application = context.issuer.application
            if keepsSession == false {
                // Without a cookie, the session does not take the place of others in the browser.
                let session = try await deletion.restore(with: token, from: context.client, in: application)
                    .session.grant
                _ = try await sessions.endSession(
                    session.sessionID, of: session.uid, because: .signedOut, application: application.id)
                return Self.decided(state)
            }
            let cookie = proofs.cookie(after: form.action, formToken: form.token, context)
            let client = proofs.client(under: cookie, remember: remember, context)
            return .proven(try await deletion.restore(with: token, from: client, in: application), under: cookie)
        case .leave: return Self.decided(state)
        default: return nil
        }
    }

    private static func decided(_ state: RequestState) -> StepOutcome {
        var state = state
        state.progress.pending = nil
        return .progressed(state)
    }
}
