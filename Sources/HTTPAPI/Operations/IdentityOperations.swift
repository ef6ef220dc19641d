internal import Accounts
internal import Foundation
internal import ProviderKit

/// Listing, linking, changing, reviewing and removing the identities of an account, and re-authenticating.
struct IdentityOperations: Sendable {
    let useCases: UseCases

    var list: Operation<Void, [ListedIdentity]> {
        Operation("identity.list", access: .bearer, limits: .none) { context, _ in
            try await useCases.identities.list(of: context.principal)
        }
    }

    typealias Link = (proof: SubmittedProof, onConflict: ConflictChoice?, remember: Bool?)

    /// Attempts with a password count toward the limit of registrations, other proofs toward that of their provider's
    /// route.
    var link: Operation<ProviderInput<Link>, LinkOutcome> {
        Operation(
            "identity.link", access: .recent,
            limits: .chosen(target: .registerTarget) { input, providers in
                input()?.hasPassword == true ? .register : providers.limit(ofProvider: input()?.provider)
            },
            hashesPassword: { input, providers in
                input()?.hasPassword == true && providers.takesPasswords(input()?.provider)
            },
            admitsFormerGuests: true,
            errors: .signIn + [
                .identityInUse, .invalidCredentials, .invalidState, .unsupportedProvider, .missingEmailOrPassword,
                .tooWeakPassword, .providerUnavailable,
            ]
        ) { context, input in
            let (principal, body) = (try context.principal, try input.body.get())
            return try await useCases.identityProofs.link(
                body.proof, of: input.provider, onConflict: body.onConflict ?? .keep, by: principal,
                from: context.client(remembered: body.remember))
        }
    }

    /// Attempts with a password count toward the limit of sign-ins, other proofs toward that of their provider's route.
    var reauthenticate: Operation<(provider: String?, proof: SubmittedProof, remember: Bool?), SignedIn> {
        Operation(
            "identity.reauthenticate", access: .bearer,
            limits: .chosen { input, providers in
                input()?.proof.password != nil ? .login : providers.limit(ofProvider: input()?.provider)
            },
            hashesPassword: { input, providers in
                input()?.proof.password != nil && providers.takesPasswords(input()?.provider)
            },
            errors: [
                .invalidCredentials, .invalidState, .unverifiedIdentity, .identityTemporarilyLocked, .providerDisabled,
                .unsupportedProvider, .providerUnavailable, .tokenTooOld, .secondProofRequired, .missingEmailOrPassword,
            ]
        ) { context, input in
            try await useCases.identityProofs.reauthenticate(
                with: input.proof, of: input.provider, by: context.principal,
                from: context.client(remembered: input.remember))
        }
    }

    /// Sends a code to the new address.
    var changeAddress: Operation<(identity: UUID, address: AddressBody), SentCode> {
        Operation(
            "identity.changeAddress", access: .recent, limits: .client(.otpClient, target: .otpSend),
            errors: [.identityNotFound, .providerDisabled, .unsupportedProvider]
        ) { context, input in
            try await useCases.addressChange.begin(
                of: input.identity, typed: { $0 == "phone" ? input.address.phone : input.address.email },
                from: context.client, by: context.principal)
        }
    }

    var verifyAddress: Operation<(identity: UUID, code: PresentedOneTimeCode), ListedIdentity> {
        Operation(
            "identity.verifyAddress", access: .bearer, limits: .general,
            errors: [
                .identityNotFound, .invalidCredentials, .identityInUse, .accountDeleted, .accountDisabled, .tokenTooOld,
                .providerDisabled, .unsupportedProvider, .secondProofRequired,
            ]
        ) { context, input in
            try await useCases.addressChange.complete(
                of: input.identity, with: input.code, by: context.principal, from: context.client)
        }
    }

    /// Removes the identity with the given id, or without an id the identity that opened the session.
    var remove: Operation<UUID?, IdentityRemoval> {
        Operation(
            "identity.remove", access: .recent, limits: .general, errors: [.identityNotFound, .lastUsableIdentity]
        ) { context, id in try await useCases.identities.remove(id, by: context.principal) }
    }

    var review: Operation<ReviewBody, Void> {
        Operation("identity.review", limits: .general, errors: [.invalidToken, .lastUsableIdentity]) { context, input in
            try await useCases.identityReview.review(
                input.token, keeping: input.keep ?? [], removing: input.remove ?? [], in: context.application)
        }
    }
}

extension ProviderInput<IdentityOperations.Link> {
    fileprivate var hasPassword: Bool { (try? body.get())?.proof.password != nil }
}
