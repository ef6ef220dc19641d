internal import Accounts
internal import Hummingbird
internal import ProviderKit

/// Routes that use the links that administrators have sent.
extension APIRoutes {
    var links: [Endpoint] {
        [
            operations.links.acceptInvitation.at(
                .post, "/auth/invitation",
                "Opens the account of an invitation, with a password or with an identity of a provider",
                takes: .json(AcceptedInvitationBody.self) { body, request in
                    (
                        body.token, body.displayName, body.proof.password, body.proof.provider,
                        body.proof.submitted(by: request), body.proof.remember
                    )
                }, returns: .json),
            operations.links.recover.at(
                .post, "/auth/recover",
                "Sets a new password or links an identity with the link of an administrator, and ends every other session",
                takes: .json(UsedRecoveryBody.self) { body, request in
                    (
                        body.token, body.newPassword, body.proof.provider, body.proof.submitted(by: request),
                        body.proof.remember
                    )
                }, returns: .json),
        ]
    }
}
