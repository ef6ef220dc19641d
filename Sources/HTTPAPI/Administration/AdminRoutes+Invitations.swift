internal import Accounts
internal import Administration
internal import Foundation
internal import Hummingbird
internal import ProviderKit

extension AdminRoutes {
    /// Invitations, and links that let owners back into their accounts.
    var invitations: [Endpoint] {
        let operations = InvitationOperations(useCases: useCases)
        return [
            operations.invite.at(
                .post, "/invitations", "Sends a person a link that opens an account; there is no account until then",
                takes: .json, returns: .json(status: .created) { SentLinkResponse(expiresAt: $0) }),
            operations.recover.at(
                .post, "/accounts/{uid}/recover",
                "Sends the owner a link that lets them into the account, or shows the link once",
                takes: .account(Act<RecoveryBody>.self), returns: .recoveryLink),
        ]
    }
}

struct InvitationOperations {
    let useCases: AdministrationUseCases

    /// Roles and claims need the scope to set them.
    ///
    /// The calls are counted as searches, because they show which addresses are taken.
    var invite: AdminOperation<Act<InvitationBody>, Date> {
        AdminOperation(
            "invitations.send", scope: .writeAccounts, limit: .adminSearch,
            errors: [.existingIdentity, .providerDisabled, .rateLimited]
        ) { request, input in
            if input.body.givesAccess { try request.administrator.require(.accessOfAccounts) }
            return try await useCases.invitations.invite(
                input.body.invitee, by: request.actWithoutNote(input), in: request.application)
        }
    }

    /// Showing a link needs a scope of its own, which no key has, and the phrase.
    var recover: AdminOperation<(uid: UUID, body: Act<RecoveryBody>), RecoveryLinks.Link> {
        AdminOperation(
            "accounts.recover", scope: .writeAccounts,
            errors: [.accountNotFound, .confirmationRequired, .wrongState, .rateLimited]
        ) { request, input in
            let body = input.body.body
            if body.deliver == .show {
                try request.administrator.require(.recoverAccounts)
                try request.requireProof()
            }
            let act = try await request.act(input.body, on: input.uid)
            if body.deliver == .show {
                try await request.require(body.confirm, toBe: "recover \(input.uid.text)", of: input.uid)
            }
            return try await useCases.recoveryLinks.make(
                body.deliver, for: input.uid, by: act, through: request.acts, in: request.application)
        }
    }
}
