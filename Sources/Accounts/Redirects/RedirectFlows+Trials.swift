package import Foundation
internal import ProviderKit

/// Flows by which an administrator tries a provider, also one that is off, with an account of their own there.
///
/// Such a flow ends at the console, and its evidence opens and links nothing. `linkingSession` is the console session's,
/// so that the code neither signs in nor links. Tokens are revoked at once.
extension RedirectFlows {
    /// Prepares a flow that ends at the console, for the session with this id there.
    ///
    /// With `inBrowser`, a cookie binds the flow to the browser, which needs the same origin for the console and the
    /// callback.
    /// - Throws: `AccountsError.unsupportedProvider` if the provider cannot be tried.
    package func prepareTrial(
        of name: String, for session: UUID, inBrowser isInBrowser: Bool, in application: Application
    ) async throws -> PreparedTrial {
        let configured = try application.providers.tried(name)
        let provider: any RedirectProvider = try configured.capability()
        let owner = FindingLog.Owner(application: application.name, provider: configured.name)
        let earlier = findings.lastSeen(of: owner)
        let state = opaque.make()
        let url: String
        do {
            url = try await provider.authorizationURL(
                for: flow(state, with: configured, isFresh: false, isTrial: true, in: application))
        } catch let error as ProviderError {
            return .failed(
                TrialOutcome(failure: .init(error), findings: findings.noted(of: owner, since: earlier)))
        }
        let browser = isInBrowser ? opaque.make() : nil
        let destination = FlowDestination.trial(state: opaque.make().text)
        return .ready(
            NewRedirectFlow(
                state: state, provider: configured.name, destination: destination, linkingSession: session,
                isFresh: false, browser: browser, lifetime: Self.lifetime),
            AuthorizationRedirect(
                url: url, state: destination.appState, isForBrowser: isInBrowser,
                cookie: browser.map {
                    FlowCookie(
                        for: state, value: $0.text, provider: configured.name, isOfPage: true, in: application)
                }))
    }

    /// Completes the callback of a trial, and keeps for the console what it has led to.
    func completeTrial(
        _ callback: RedirectCallback, of answered: AnsweredFlow, state: OpaqueToken, from name: String,
        expired: FlowCookie?, in application: Application
    ) async throws -> AuthorizationCallback {
        let owner = FindingLog.Owner(application: application.name, provider: name)
        let earlier = findings.lastSeen(of: owner)
        let clock = ContinuousClock()
        let arrival = clock.now
        var outcome = TrialOutcome(
            away: .milliseconds(max(0, Int(time.now().timeIntervalSince(answered.beganAt) * 1000))))
        var failure: (any Error)?
        do {
            let configured = try application.providers.tried(name)
            var evidence = try await evidence(
                in: callback, of: answered, state: state, from: configured, in: application)
            outcome.completion = arrival.duration(to: clock.now)
            if let tokens = evidence.tokens {
                let start = clock.now
                outcome.tokens = await configured.giveBack(tokens)
                outcome.revocation = start.duration(to: clock.now)
            }
            evidence.tokens = nil
            outcome.evidence = evidence
        } catch {
            failure = error
            outcome.failure = .init(error)
        }
        outcome.findings =
            [callback.finding].compactMap(\.self) + findings.noted(of: owner, since: earlier)
        let code = opaque.make()
        try await store.keep(
            outcome, under: code, state: state.hash, lifetime: Self.codeLifetime, application: application.id)
        return AuthorizationCallback(.trial(provider: name, code: code.text), expired: expired, failure: failure)
    }

    /// Takes out what a trial has led to; it is lost if the code is presented in another session or for another provider.
    package func takeTrial(
        under code: String, of provider: String, for session: UUID, in application: Application
    ) async throws -> TrialOutcome? {
        guard let code = opaque.parse(code),
            let stored = try await store.takeTrial(code.hash, application: application.id),
            stored.session == session, stored.provider.hasSameBytes(as: provider)
        else { return nil }
        return stored.outcome
    }
}

extension ConfiguredProvider {
    /// Revokes tokens at the service.
    fileprivate func giveBack(_ tokens: ProviderTokens) async -> TrialOutcome.Tokens {
        guard let provider = provider as? any RevokingProvider else { return .notGivenBack }
        do {
            try await provider.revoke(tokens)
            return .givenBack
        } catch {
            return .notGivenBack
        }
    }
}

extension FlowDestination {
    /// What stands for the redirect URI of a trial; the redirect URI of an app is absolute.
    package static let trialPath = "/console"

    var isOfTrial: Bool { redirectURI == Self.trialPath }

    fileprivate static func trial(state: String) -> FlowDestination {
        FlowDestination(redirectURI: trialPath, appState: state, codeChallenge: nil)
    }
}
