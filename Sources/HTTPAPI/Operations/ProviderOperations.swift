internal import Accounts
internal import Logging
internal import OpenID
internal import ProviderKit

/// Sign-in with the credentials of the installed kinds of provider, and the events that providers send.
struct ProviderOperations: Sendable {
    let useCases: UseCases
    let openID: OpenIDUseCases

    /// Counts toward the limit named like the provider's route, if there is one, else toward `general`.
    func signIn<P: DirectProvider>(with type: P.Type) -> Operation<DirectBody<P.Credential>, SignedIn> {
        Operation(
            "\(P.kind).signIn", limits: .client(RateLimit(rawValue: P.route)),
            errors: .signIn + [.invalidToken, .unsupportedProvider, .providerUnavailable]
        ) { context, input in
            let provider = try? context.application.providers.provider(ofKind: P.kind, named: input.provider)
            return try await loggingOutage(of: provider?.name ?? P.kind, context) {
                try await useCases.signIn.signIn(
                    with: input.credential, of: P.self, named: input.provider, ticket: input.ticket,
                    from: context.client(remembered: input.remember), origin: context.request.origin,
                    in: context.application)
            }
        }
    }

    /// Signs in as a new guest; `nil` if no provider of guests is installed.
    func guestSignIn(of installed: [any Provider.Type]) -> StartOperations.GuestSignIn? {
        func signIn<P: DirectProvider>(with type: P.Type) -> StartOperations.GuestSignIn? {
            guard let credential = NoCredential() as? P.Credential else { return nil }
            return { client, context in
                try await useCases.signIn.signIn(
                    with: credential, of: type, named: nil, ticket: nil, from: client, origin: context.request.origin,
                    in: context.application)
            }
        }
        let guests = installed.first { $0.kind == "anonymous" } as? any DirectProvider.Type
        return guests.flatMap { signIn(with: $0) }
    }

    /// Shares the limit of the provider's direct route.
    var signInWithNativeToken: Operation<ProviderInput<Ticketed<NativeToken>>, SignedIn> {
        Operation(
            "nativeToken.signIn",
            limits: .chosen { input, providers in providers.limit(ofProvider: input()?.provider) },
            errors: .signIn + [.invalidToken, .unsupportedProvider, .providerUnavailable]
        ) { context, input in
            let body = try input.body.get()
            return try await loggingOutage(of: input.provider, context) {
                try await useCases.signIn.signIn(
                    with: body.proof, of: input.provider, ticket: body.ticket,
                    from: context.client(remembered: body.remember), in: context.application)
            }
        }
    }

    func notify(kind: String) -> Operation<NotificationBody, Void> {
        Operation(
            "\(kind).notify", limits: .general,
            errors: [.invalidToken, .providerDisabled, .unsupportedProvider, .providerUnavailable]
        ) { context, input in
            try await useCases.notifications.receive(
                input.payload, ofKind: kind, named: input.provider, in: context.application)
        }
    }
}

// MARK: - One-time codes

extension ProviderOperations {
    /// Sends a code to an address, whether an account has it or not.
    func sendCode<P: ChallengeProvider>(with type: P.Type) -> Operation<CodeTargetBody<P>, SentCode> {
        Operation(
            "\(P.kind).sendCode", access: .optionalBearer, limits: .client(.otpClient, target: .otpSend),
            errors: [.providerDisabled, .unsupportedProvider]
        ) { context, input in
            try await useCases.codes.begin(
                input.target, ofKind: P.kind, named: input.provider, by: context.optionalPrincipal,
                from: context.client, in: context.application)
        }
    }

    func verifyCode(kind: String) -> Operation<OneTimeCodeBody, SignedIn> {
        Operation(
            "\(kind).verifyCode", access: .optionalBearer, limits: .general,
            errors: .signIn + [.invalidCredentials, .unsupportedProvider]
        ) { context, input in
            try await useCases.signIn.signIn(
                with: input.presented, ofKind: kind, named: input.provider, ticket: input.ticket,
                by: context.optionalPrincipal, from: context.client(remembered: input.remember),
                in: context.application)
        }
    }
}

// MARK: - Redirects to a provider's pages

extension ProviderOperations {
    typealias Start = (provider: String, request: AuthorizationRequest)
    /// `cookie` returns the value of a cookie by name.
    typealias Return = (
        provider: String, callback: Result<RedirectCallback, any Error>, cookie: @Sendable (String) -> String?
    )

    /// Begins a flow that signs in or, with an access token, re-authenticates its account.
    var beginRedirect: Operation<Start, AuthorizationRedirect> {
        Operation(
            "redirect.begin", access: .optionalBearer, limits: .client(.redirect),
            errors: [
                .missingParameter, .unauthorizedRequestOrigin, .unsupportedProvider, .providerDisabled,
                .providerUnavailable,
            ]
        ) { context, input in
            try await begin(input, context)
        }
    }

    /// Begins a flow that signs in, also if a dialect's app sends a token that it still has.
    var beginSignIn: Operation<Start, AuthorizationRedirect> {
        Operation("redirect.begin", limits: .client(.redirect), errors: beginRedirect.guards.errors) {
            context, input in
            try await begin(input, context)
        }
    }

    private func begin(_ input: Start, _ context: OperationContext) async throws -> AuthorizationRedirect {
        if let issuer = context.scope.application.openID, input.provider.hasSameBytes(as: OwnClient.hostedProvider) {
            // The pages only sign in; an account that is signed in to an app is known there.
            guard context.optionalPrincipal == nil else { throw AccountsError.unsupportedProvider(input.provider) }
            guard input.request.parameters.isEmpty else {
                throw AccountsError.invalidParameter("parameters", reason: "is only for providers that forward it")
            }
            return try await openID.authorization.begin(input.request, at: issuer)
        }
        return try await loggingOutage(of: input.provider, context) {
            try await useCases.redirects.begin(
                input.request, with: input.provider, by: context.optionalPrincipal, in: context.application)
        }
    }

    /// Begins a flow that links an identity to the principal's account.
    var beginLink: Operation<Start, AuthorizationRedirect> {
        Operation(
            "redirect.beginLink", access: .recent, limits: .client(.redirect),
            errors: [.unauthorizedRequestOrigin, .unsupportedProvider, .providerDisabled, .providerUnavailable]
        ) { context, input in
            try await loggingOutage(of: input.provider, context) {
                try await useCases.redirects.begin(
                    input.request, with: input.provider, by: context.principal, linking: true,
                    in: context.application)
            }
        }
    }

    /// Requires only the flow's `state`, because browsers come here from the provider without an access token.
    var completeRedirect: Operation<Return, AuthorizationCallback> {
        Operation("redirect.complete", limits: .general, errors: [.unsupportedProvider, .invalidState]) {
            context, input in
            let callback = try await useCases.redirects.complete(
                input.callback.get, from: input.provider, cookie: input.cookie, in: context.application)
            if let failure = callback.failure {
                context.log.notice(
                    "A redirect flow failed", metadata: ["provider": "\(input.provider)", "error": "\(failure)"])
            }
            if case .page(let arrived) = callback.destination, let issuer = context.scope.application.openID {
                try await openID.steps.note(arrived, at: issuer)
            }
            return callback
        }
    }

    var redeemCode: Operation<CodeBody, SignedIn> {
        Operation(
            "redirect.redeem", limits: .general, errors: .signIn + [.invalidToken, .invalidState, .unsupportedProvider]
        ) { context, input in
            try await useCases.signIn.signIn(
                with: input.presented, ticket: input.ticket, from: context.client(remembered: input.remember),
                in: context.application)
        }
    }

    /// Redeems a code that a dialect's app presents; its refusal is 400, because such apps sign the person out at 401.
    var redeemPosted: Operation<PresentedCode, SignedIn> {
        Operation("redirect.redeem", limits: .general, errors: redeemCode.guards.errors) { context, presented in
            do {
                return try await useCases.signIn.signIn(
                    with: presented, ticket: nil, from: context.client, in: context.application)
            } catch AccountsError.invalidToken {
                throw APIError(.invalidToken, "The code is not valid", status: 400)
            }
        }
    }
}

// MARK: - Outages

extension ProviderOperations {
    /// Logs which provider's service did not answer and why, which the error does not say.
    private func loggingOutage<Output>(
        of provider: String, _ context: OperationContext, isolation: isolated (any Actor)? = #isolation,
        _ body: () async throws -> Output
    ) async throws -> Output {
        do {
            return try await body()
        } catch ProviderError.unavailable {
            var metadata: Logger.Metadata = ["application": "\(context.application.name)", "provider": "\(provider)"]
            let owner = FindingLog.Owner(application: context.application.name, provider: provider)
            // A failed discovery is not repeated at once, so the cause may be that of an earlier request.
            if let finding = useCases.findings.latest(of: owner) { metadata["finding"] = "\(finding.rawValue)" }
            context.log.warning("A provider does not answer", metadata: metadata)
            throw ProviderError.unavailable
        }
    }
}
