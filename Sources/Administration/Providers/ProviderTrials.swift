package import Accounts
internal import ProviderKit

/// Lets administrators at the console try a provider with an account of their own at its service.
///
/// A trial is a real flow through the ordinary callback, but opens no account and no session here. What it has led to is
/// shown once, to the session at the console that began it, with the verdict that a sign-in would get today.
package struct ProviderTrials: Sendable {
    package typealias Store = RedirectFlowStore & AuditTrail & BoundedTransactions

    /// How a trial begins: the browser goes to the provider's pages, or there was no way to send it there.
    package enum Beginning: Sendable {
        case leaves(AuthorizationRedirect)
        case ended(TrialOutcome)
    }

    let store: any Store
    let redirects: RedirectFlows
    let explanations: Explanations

    package init(store: any Store, redirects: RedirectFlows, explanations: Explanations) {
        (self.store, self.redirects, self.explanations) = (store, redirects, explanations)
    }

    /// Whether a provider can be tried: it has pages of its own, and is not off in the configuration itself.
    package static func canTry(_ provider: ConfiguredProvider) -> Bool {
        provider.switched(to: .open).provider is any RedirectProvider
    }

    /// Begins a trial and records that.
    ///
    /// With `inBrowser`, a cookie binds the flow to the browser (`RedirectFlows.prepareTrial`).
    /// - Throws: `AdministrationError.forbidden`; `AccountsError.unsupportedProvider` if the provider cannot be tried.
    package func begin(
        _ name: String, inBrowser: Bool, in session: ConsoleSession, by administrator: Administrator
    ) async throws -> Beginning {
        try administrator.require(.writeProviders)
        let application = administrator.application
        let trial = try await redirects.prepareTrial(
            of: name, for: session.sessionID, inBrowser: inBrowser, in: application)
        let act = AdministrativeAct(by: administrator.actor)
        let entry = AuditEntry(.providerTried, details: act.details(adding: ["provider": .string(name)]))
        try await store.transaction(within: .administration) { store in
            if case .ready(let flow, _) = trial { try await store.begin(flow, application: application.id) }
            try await store.record(entry, application: application.id)
        }
        return switch trial {
        case .ready(_, let redirect): .leaves(redirect)
        case .failed(let outcome): .ended(outcome)
        }
    }

    /// Takes out what a trial has led to, and the verdict on its evidence.
    ///
    /// A provider that is off gets the verdict that it would get if it were open.
    /// - Returns: `nil` if there is nothing, or not for this session and provider; then it is lost.
    /// - Throws: `AdministrationError.forbidden`; `AccountsError.unsupportedProvider`.
    package func finish(
        _ code: String, of name: String, in session: ConsoleSession, by administrator: Administrator
    ) async throws -> (outcome: TrialOutcome, verdict: Explanation?)? {
        try administrator.require(.writeProviders)
        let application = administrator.application
        let outcome = try await redirects.takeTrial(
            under: code, of: name, for: session.sessionID, in: application)
        guard let outcome else { return nil }
        guard let evidence = outcome.evidence, let provider = application.providers[name] else { return (outcome, nil) }
        let verdict = try await explanations.explain(
            evidence, of: provider, mode: provider.mode == .off ? .open : nil, by: administrator)
        return (outcome, verdict)
    }
}
