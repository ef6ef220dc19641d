internal import Accounts
internal import ProviderKit

/// Using the links that administrators have sent: invitations, and links that let owners into their accounts.
struct LinkOperations: Sendable {
    let useCases: UseCases

    typealias Invitation = (
        token: String, displayName: String?, password: String?, provider: String?, proof: SubmittedProof,
        remember: Bool?
    )

    /// Without a provider the account signs in with the address alone, and with the password if one is given.
    var acceptInvitation: Operation<Invitation, SignedIn> {
        Operation(
            "invitation.accept", limits: .client(.forgotPassword),
            hashesPassword: { input, _ in input()?.provider == nil && input()?.password != nil },
            errors: .ofLinks
        ) { context, input in
            let client = context.client(remembered: input.remember)
            guard let provider = input.provider else {
                return try await useCases.invitations.accept(
                    input.token, password: input.password, displayName: input.displayName, from: client,
                    in: context.application)
            }
            return try await useCases.invitations.accept(
                input.token, with: input.proof, of: provider, displayName: input.displayName, from: client,
                in: context.application)
        }
    }

    typealias Recovery = (
        token: String, newPassword: String?, provider: String?, proof: SubmittedProof, remember: Bool?
    )

    var recover: Operation<Recovery, SignedIn> {
        Operation(
            "account.recover", limits: .client(.forgotPassword),
            hashesPassword: { input, _ in input()?.provider == nil && input()?.newPassword != nil },
            errors: .ofLinks + [.identityNotFound]
        ) { context, input in
            let client = context.client(remembered: input.remember)
            guard let provider = input.provider else {
                guard let password = input.newPassword else { throw AccountsError.missingParameter("newPassword") }
                return try await useCases.recovery.recover(
                    input.token, to: password, from: client, in: context.application)
            }
            return try await useCases.recovery.recover(
                input.token, with: input.proof, of: provider, from: client, in: context.application)
        }
    }
}

extension [ErrorCode] {
    fileprivate static let ofLinks: Self =
        .signIn + [
            .invalidToken, .tooWeakPassword, .identityInUse, .invalidCredentials, .invalidState, .unsupportedProvider,
            .providerUnavailable, .missingEmailOrPassword,
        ]
}
