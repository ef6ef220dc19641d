internal import Accounts
internal import ProviderKit

/// The pages that set a password, the one of a new account included, and the page that mails a link to choose one.
struct PasswordSteps: StepActions {
    let profile: Profile
    let change: PasswordChange
    let reset: PasswordReset
    let limits: any RateLimiting

    func perform(_ form: StepForm, on state: RequestState, _ context: RequestSteps.Context) async throws -> StepOutcome?
    {
        var state = state
        switch (form.step, form.action) {
        case (.welcome, .skip): state.progress.pending = nil
        case (.welcome, .save(let name, let password)):
            state.progress.pending = nil
            guard let account = state.account(at: form.step) else { break }
            if let name, !name.isEmpty {
                try await limits.spend(asCallOf: "PATCH /api/v1/auth/me", context)
                _ = try await profile.update(
                    displayName: name, metadata: nil, of: account.principal(in: context.issuer.application))
            }
            if let password, !password.isEmpty { try await set(password, of: account, in: state, context) }
            return .changed(state)
        case (.newPassword, .save(_, let password)):
            guard let account = state.account(at: form.step) else { break }
            guard let password, !password.isEmpty else { throw AccountsError.missingParameter("password") }
            try await set(password, of: account, in: state, context)
            return .changed(state)
        case (.forgot, .sendReset(let identifier)):
            guard let identifier, !identifier.isEmpty else { throw AccountsError.missingParameter("identifier") }
            try await limits.spend(.forgotPassword, of: RateSubject(context.client), in: context.issuer.application)
            try await reset.request(
                typed: identifier, reading: context.client.languages, in: context.issuer.application)
            return .page(.done)
        default: return nil
        }
        return .progressed(state)
    }

    private func set(
        _ password: String, of account: BrowserAccount, in state: RequestState, _ context: RequestSteps.Context
    ) async throws {
        try await limits.spend(asCallOf: "PUT /api/v1/auth/change-password", context)
        guard state.isRecent(account.session) else { throw AccountsError.tokenTooOld }
        try await change.change(
            to: password, current: nil, isOfNewAccount: account.isNew,
            by: account.principal(in: context.issuer.application), from: context.client)
    }
}

extension BrowserAccount {
    /// Whether the person can choose the account's first password: the session was opened lately, by the provider whose
    /// identities have passwords.
    package func canChoosePassword(at issuer: Issuer) -> Bool {
        let provider = try? issuer.application.providers.passwordProvider().0
        return passwordAddress == nil && provider?.name == self.provider && !session.isBorrowed
            && .seconds(session.age) <= issuer.application.policy.recentAuthentication
    }
}
