internal import Accounts
internal import ProviderKit

/// Registration, sign-in, reset and the other operations with passwords.
struct PasswordOperations: Sendable {
    let useCases: UseCases

    /// - Returns: the normalised address.
    var register: Operation<RegistrationBody, EmailAddress> {
        Operation(
            "password.register", limits: .client(.register, target: .registerTarget), hashesPassword: { _, _ in true },
            errors: [.missingEmailOrPassword, .tooWeakPassword, .providerDisabled, .existingIdentity]
        ) { context, input in
            let typed = try TypedPassword(email: input.email, password: input.password)
            return try await useCases.registration.register(
                typed: typed.email, password: typed.password, displayName: input.displayName, from: context.client,
                in: context.application)
        }
    }

    var verify: Operation<MailedTokenBody, SignedIn> {
        Operation(
            "password.verify", access: .optionalBearer,
            limits: .chosen { input, _ in input()?.password != nil ? .login : nil },
            hashesPassword: { input, _ in input()?.password != nil },
            errors: .signIn + [
                .invalidToken, .invalidCredentials, .identityTemporarilyLocked, .identityInUse, .tokenTooOld,
                .unsupportedProvider,
            ]
        ) { context, input in
            try await useCases.registration.verify(
                input.token, password: input.password, by: context.optionalPrincipal,
                from: context.client(remembered: input.remember), in: context.application)
        }
    }

    var signIn: Operation<LoginBody, SignedIn> {
        Operation(
            "password.signIn", limits: .client(.login), hashesPassword: { _, _ in true },
            errors: .signIn + [
                .missingEmailOrPassword, .invalidCredentials, .unverifiedIdentity, .identityTemporarilyLocked,
                .invalidToken,
            ]
        ) { context, input in
            try await useCases.signIn.signIn(
                with: TypedPassword(email: input.email, password: input.password), ticket: input.ticket,
                from: context.client(remembered: input.remember), in: context.application)
        }
    }

    var requestReset: Operation<EmailBody, Void> {
        Operation(
            "password.requestReset", limits: .client(.forgotPassword, target: .forgotPasswordTarget),
            errors: [.providerDisabled]
        ) { context, input in
            try await useCases.passwordReset.request(
                typed: input.email, reading: context.client.languages, in: context.application)
        }
    }

    var reset: Operation<NewPasswordBody, Void> {
        Operation(
            "password.reset", limits: .general, hashesPassword: { _, _ in true },
            errors: .signIn + [.invalidToken, .tooWeakPassword, .unsupportedProvider]
        ) { context, input in
            try await useCases.passwordReset.reset(
                input.token, to: input.newPassword, from: context.client, in: context.application)
        }
    }

    /// Changes the password; calls with the current password count as sign-ins, because they can be used to guess it.
    var change: Operation<PasswordChangeBody, Void> {
        Operation(
            "password.change", access: .recent,
            limits: .chosen { input, _ in input()?.currentPassword != nil ? .login : nil },
            hashesPassword: { _, _ in true },
            errors: [
                .invalidCredentials, .tooWeakPassword, .identityNotFound, .identityTemporarilyLocked, .providerDisabled,
            ]
        ) { context, input in
            try await useCases.passwordChange.change(
                to: input.password, current: input.currentPassword, by: context.principal, from: context.client)
        }
    }

    struct OwnChange: Sendable {
        let password: String
        /// `nil` if a recent sign-in takes its place.
        let current: String?
        let endsOthers: Bool
    }

    /// Changes the password with the current one, or without it after a recent sign-in, for dialects.
    ///
    /// - Returns: the account, with its identity at the provider that `provider` names.
    func changeOwn(
        _ provider: @escaping @Sendable (OperationContext) -> String?
    ) -> Operation<OwnChange, AccountDetails> {
        Operation(
            "password.change", access: .bearer,
            limits: .chosen { input, _ in input()?.current != nil ? .login : nil },
            hashesPassword: { _, _ in true }, errors: change.guards.errors + [.tokenTooOld]
        ) { context, input in
            let principal = try context.principal
            try await change(input, of: principal, from: context.client)
            return try await useCases.profile.details(of: principal, with: provider(context))
        }
    }

    /// - Throws: `AccountsError.tokenTooOld` if there is neither the current password nor a recent sign-in.
    func change(_ input: OwnChange, of principal: Principal, from client: Client) async throws {
        if input.current == nil { try await useCases.authentication.requireRecent(principal) }
        try await withOwnPassword {
            try await useCases.passwordChange.change(
                to: input.password, current: input.current, endingOthers: input.endsOthers, by: principal,
                from: client)
        }
    }
}
