internal import Accounts
internal import Foundation
internal import ProviderKit

/// Proofs from providers' pages, and proofs that the network has added to a request.
///
/// A provider's callback may come without the browser's cookies, so it only notes in the request what has arrived. The
/// proof is used when the browser shows the page again. If the identity belongs to no account, the proof waits until the
/// person decides what it is for.
struct ProviderCallbacks: StepActions {
    let store: any AuthorizationStore
    let redirects: RedirectFlows
    let identities: IdentityProofs
    let proofs: StepProofs

    // MARK: - To the provider and back

    /// Begins the way to a provider's pages; `nil` if the request itself carries the provider's proof.
    /// - Throws: `AccountsError.unsupportedProvider`, `.providerDisabled`; `ProviderError.unavailable`.
    func leave(
        for name: String, on state: RequestState, _ context: RequestSteps.Context
    ) async throws -> AuthorizationRedirect? {
        let (application, state) = (context.issuer.application, state.withoutCallback)
        let provider = try application.providers.named(name)
        let isLinking = state.links(name)
        guard provider.mode != .linkOnly || isLinking else {
            throw AccountsError.providerDisabled(LinkingRule.providerLinkOnly.refusal)
        }
        if provider.recognises(context.origin) { return nil }
        let account = isLinking ? state.candidate : state.reauthenticated
        let (request, needsNew) = (state.request, account != nil || state.changesAccounts)
        return try await redirects.begin(
            fromPageOf: context.request, with: name, by: account?.principal(in: application), linking: isLinking,
            isFresh: !isLinking && (needsNew || request.prompts.contains(.login) || request.maxAge != nil),
            in: application)
    }

    /// Notes in the request what its browser brings back from a provider; a request that is over stays as it is.
    func note(_ arrived: PageReturn, at issuer: Issuer) async throws {
        guard let id = proofs.opaque.parse(arrived.request) else { return }
        try await retryingOnConflict {
            guard var stored = try await store.openRequest(id.hash, application: issuer.application.id) else { return }
            if let code = arrived.code, let state = arrived.state {
                var earlier: PendingDecision?
                if case .secondProof? = stored.progress.pending { earlier = stored.progress.pending }
                stored.progress.pending = .arrival(
                    ProviderCallback(provider: arrived.provider, code: code, state: state), after: earlier)
                stored.progress.providerError = nil
            } else {
                let isOutage = ["server_error", "temporarily_unavailable"].contains(arrived.error)
                stored.progress.providerError = isOutage ? "PROVIDER_UNAVAILABLE" : "access_denied"
            }
            guard try await store.update(stored, application: issuer.application.id) else { throw StoreConflict() }
        }
    }

    // MARK: - Using the proof

    /// Uses a proof that has arrived, for what the request asks for; only the person's decision opens an account.
    ///
    /// A person who was asked to authenticate again, and proves another account, is signed in to that one; if the
    /// request requires the former account, it ends then.
    func use(
        _ callback: ProviderCallback, on state: RequestState, _ context: RequestSteps.Context
    ) async throws -> StepOutcome {
        let asked = state.withoutCallback
        let cookie = proofs.cookie(after: callback, context)
        if let account = asked.reauthenticated {
            do {
                return .proven(try await reauthenticate(account, with: callback, under: cookie, context), under: cookie)
            } catch is ForeignIdentity {}
        }
        if asked.links(callback.provider), let account = asked.candidate {
            return .linked(try await link(callback, to: account, under: cookie, context), under: cookie)
        }
        do {
            return try await signIn(with: callback, opensAccount: false, under: cookie, on: state, context)
        } catch is UnknownIdentity {
            var asked = asked
            asked.progress.pending = .newIdentity(callback)
            return .progressed(asked)
        }
    }

    func perform(_ form: StepForm, on state: RequestState, _ context: RequestSteps.Context) async throws -> StepOutcome?
    {
        guard form.step == .newOrLink, case .newIdentity(let callback)? = state.progress.pending else { return nil }
        switch form.action {
        case .create where state.opensAccounts:
            let cookie = proofs.cookie(after: form.action, formToken: form.token, context)
            return try await signIn(with: callback, opensAccount: true, under: cookie, on: state, context)
        case .link:
            var state = state
            (state.progress.joining, state.progress.pending, state.progress.wantsOther) = (callback, nil, true)
            return .progressed(state)
        default: return nil
        }
    }

    /// Adds the identity that the person has kept to the account that they have signed in to, and returns the progress
    /// after that.
    ///
    /// The sign-in counts even if the identity cannot be added; the next page says why.
    func join(
        _ callback: ProviderCallback, to account: BrowserAccount, under cookie: OpaqueToken,
        _ progress: RequestProgress,
        _ context: RequestSteps.Context
    ) async throws -> RequestProgress {
        var (progress, context) = (progress, context)
        context.browser.sessions = cookie.text
        do {
            _ = try await link(callback, to: account, under: cookie, context)
        } catch AccountsError.identityInUse(let ticket, let refusal) {
            progress.pending = .conflict(
                LinkConflict(provider: callback.provider, rule: refusal.rule, ticket: ticket))
        } catch let problem where problem.isForPerson {
            await context.recordRefusal(problem, callback.provider, account)
            (progress.wantsOther, progress.pending) = (true, nil)
            progress.providerError =
                switch problem {
                case AccountsError.limitReached: "LIMIT_REACHED"
                case AccountsError.providerDisabled: "PROVIDER_DISABLED"
                case AccountsError.accountDeleted: "ACCOUNT_DELETED"
                case AccountsError.overloaded, AccountsError.unavailable: "OVERLOADED"
                default: "INVALID_TOKEN"
                }
        }
        return progress
    }

    // MARK: - Use cases

    private func signIn(
        with callback: ProviderCallback, opensAccount: Bool, under cookie: OpaqueToken, on state: RequestState,
        _ context: RequestSteps.Context
    ) async throws -> StepOutcome {
        let (provider, proof) = try await read(callback, context)
        return try await proofs.prove(under: cookie, on: state, remember: false, context) { ticket, client in
            try await proofs.signIn.signIn(
                with: proof, of: provider, mayOpenAccount: opensAccount, ticket: ticket, from: client,
                in: context.issuer.application)
        }
    }

    private func reauthenticate(
        _ account: BrowserAccount, with callback: ProviderCallback, under cookie: OpaqueToken,
        _ context: RequestSteps.Context
    ) async throws -> SignedIn {
        let (provider, proof) = try await read(callback, context)
        return try await identities.linking.reauthenticate(
            with: proof, of: provider, by: account.principal(in: context.issuer.application),
            from: proofs.client(under: cookie, remember: account.isRemembered, context), leavingForeign: true)
    }

    private func link(
        _ callback: ProviderCallback, to account: BrowserAccount, under cookie: OpaqueToken,
        _ context: RequestSteps.Context
    ) async throws -> SignedIn {
        let (provider, proof) = try await read(callback, context)
        return try await identities.link(
            proof, of: provider.name, by: account.principal(in: context.issuer.application),
            from: proofs.client(under: cookie, remember: account.isRemembered, context))
    }

    /// The proof for a use case; one that the network adds is read from the present request.
    /// - Throws: `AccountsError.invalidToken` if the request does not carry it any more.
    private func read(
        _ callback: ProviderCallback, _ context: RequestSteps.Context
    ) async throws -> (ConfiguredProvider, PresentedProof) {
        let provider = try context.issuer.application.providers.named(callback.provider)
        guard let code = callback.code, let state = callback.state else {
            try await proofs.limits.spend(asCallOf: "POST /api/v1/auth/\(provider.kind)", context)
            let gateway: any GatewayProvider = try provider.capability()
            guard let evidence = try gateway.evidence(in: context.origin) else { throw AccountsError.invalidToken }
            return (provider, .evidence(evidence))
        }
        try await proofs.limits.spend(asCallOf: "POST /api/v1/auth/token", context)
        return (provider, .redirectCode(PresentedCode(code: code, state: state, atPageOf: context.request)))
    }
}

extension RequestState {
    /// The state without the proof that has arrived, so that its step is the one that the proof is for.
    var withoutCallback: RequestState {
        var state = self
        if case .arrival(_, let earlier)? = progress.pending { state.progress.pending = earlier }
        state.progress.challenge = nil
        return state
    }

    /// The account that the request asks to authenticate again; `nil` if it asks for something else.
    fileprivate var reauthenticated: BrowserAccount? {
        guard case .page(.reauthenticate) = present else { return nil }
        return account(at: .reauthenticate)
    }

    /// Whether the proof that has arrived is for a link.
    var linksCallback: Bool {
        guard case .arrival(let callback, _)? = progress.pending else { return false }
        return withoutCallback.links(callback.provider)
    }

    /// Whether the request links an identity of the provider to an account.
    fileprivate func links(_ provider: String) -> Bool {
        isAtLink && request.linksProvider?.hasSameBytes(as: provider) == true
    }
}
