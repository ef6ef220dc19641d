internal import Accounts
internal import HTTPTypes
internal import Hummingbird
internal import ProviderKit

/// Registration, login and everything else about passwords.
struct PasswordRoutes {
    let useCases: UseCases

    var endpoints: [Endpoint] {
        [register, verifyEmail, login, forgotPassword, resetPassword, changePassword]
    }

    private var register: Endpoint {
        .post(
            "/auth/register", "Registers an address with a password and mails a link that opens the account",
            limit: .register, takes: RegistrationBody.self, answers: RegistrationResponse.self, status: .created,
            errors: [.missingEmailOrPassword, .tooWeakPassword, .providerDisabled, .existingIdentity]
        ) { context, body in
            let (email, password) = try requireBoth(body.email, body.password)
            let address = try await useCases.registration.register(
                typed: email, password: password, displayName: body.displayName,
                from: context.client, in: context.application.application)
            return RegistrationResponse(
                message: "A mail with a link that confirms the address is on its way", email: address.value)
        }.hashingPasswords
    }

    private var verifyEmail: Endpoint {
        .post(
            "/auth/verify-email",
            "Opens the account of a registration with the mailed token, or links it to the bearer's account",
            access: .optionalBearer, limit: .login, takes: MailedTokenBody.self, answers: SessionResponse.self,
            errors: [
                .invalidToken, .invalidCredentials, .identityTemporarilyLocked, .providerDisabled, .identityInUse,
                .secondProofRequired, .accountDisabled, .accountDeleted,
            ]
        ) { context, body in
            SessionResponse(
                try await useCases.registration.verify(
                    body.token, password: body.password, by: context.optionalPrincipal, from: context.client,
                    in: context.application.application))
        }.hashingPasswords { (try? RequestBody.decode(MailedTokenBody.self, from: $0))?.password != nil }
    }

    private var login: Endpoint {
        .post(
            "/auth/login", "Signs in with a password",
            limit: .login, takes: LoginBody.self, answers: SessionResponse.self,
            errors: [
                .missingEmailOrPassword, .invalidCredentials, .unverifiedIdentity, .identityTemporarilyLocked,
                .accountDisabled, .accountDeleted, .providerDisabled, .invalidToken, .secondProofRequired,
            ]
        ) { context, body in
            let (email, password) = try requireBoth(body.email, body.password)
            let application = context.application.application
            return try await useCases.signingIn(with: body.ticket, in: application) {
                try await useCases.passwordSignIn.signIn(
                    typed: email, password: password, from: context.client, in: application)
            }
        }.hashingPasswords
    }

    private var forgotPassword: Endpoint {
        .post(
            "/auth/forgot-password", "Mails a link that sets a new password, where the address has an account",
            limit: .forgotPassword, takes: EmailBody.self, answers: MessageResponse.self, status: .accepted,
            errors: [.providerDisabled, .rateLimited]
        ) { context, body in
            try await useCases.passwordReset.request(
                typed: body.email, reading: context.client.languages, in: context.application.application)
            return MessageResponse(message: "If the address has an account, a mail with a link is on its way")
        }
    }

    private var resetPassword: Endpoint {
        .post(
            "/auth/reset-password", "Sets a new password with the mailed token and ends every session of the account",
            takes: NewPasswordBody.self,
            errors: [
                .invalidToken, .tooWeakPassword, .accountDisabled, .accountDeleted, .providerDisabled,
                .secondProofRequired,
            ]
        ) { context, body in
            try await useCases.passwordReset.reset(
                body.token, to: body.newPassword, from: context.client, in: context.application.application)
            return [:]
        }.hashingPasswords
    }

    private var changePassword: Endpoint {
        .post(
            "/auth/change-password", "Sets a new password and ends the account's other sessions",
            access: .recent, method: .put, limit: .login, where: { $0.currentPassword != nil },
            takes: PasswordChangeBody.self,
            errors: [.invalidCredentials, .tooWeakPassword, .identityNotFound, .identityTemporarilyLocked]
        ) { context, body in
            try await useCases.passwordChange.change(
                to: body.password, current: body.currentPassword, by: context.principal, from: context.client)
            return [:]
        }.hashingPasswords
    }
}
