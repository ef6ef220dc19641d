internal import Accounts
internal import Foundation
internal import Hummingbird
internal import NIOCore
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
                        body.proof.submitted(with: body.providerToken, by: request), body.proof.remember
                    )
                }, returns: .json),
            operations.links.recover.at(
                .post, "/auth/recover",
                "Sets a new password or links an identity with the link of an administrator, and ends every other session",
                takes: .json(UsedRecoveryBody.self) { body, request in
                    (
                        body.token, body.newPassword, body.proof.provider,
                        body.proof.submitted(with: body.providerToken, by: request), body.proof.remember
                    )
                }, returns: .json),
        ]
    }
}

extension ProofBody {
    /// The proof beside the token of a link.
    fileprivate func submitted(with providerToken: String?, by request: IncomingRequest) -> SubmittedProof {
        submitted(by: request, credential: CredentialBesideLink(request: request, providerToken: providerToken))
    }
}

/// Decodes a provider's credential from a body whose field `token` is that of a link.
///
/// A credential with a field `token` of its own, such as that of `custom-token`, is decoded with `providerToken` there.
private struct CredentialBesideLink: CredentialDecoding {
    let request: IncomingRequest
    let providerToken: String?

    func decode<Credential: RequestPayload>(_ type: Credential.Type) throws -> Credential {
        let schema = type.schema
        guard schema.properties["token"] != nil,
            case .object(var members)? = JSONValue(json: Array(request.body.readableBytesView))
        else { return try request.decode(type) }
        if providerToken == nil, schema.required.contains("token") {
            throw AccountsError.missingParameter("providerToken")
        }
        members["token"] = providerToken.map { .string($0) }
        return try RequestBody.decode(
            type, from: ByteBuffer(bytes: try JSONEncoder.stable.encode(JSONValue.object(members))))
    }
}
