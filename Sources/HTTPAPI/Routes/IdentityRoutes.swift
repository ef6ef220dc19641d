internal import Accounts
internal import Foundation
internal import Hummingbird
internal import ProviderKit

/// Routes for identities; `{identity}` in a path is the name of a provider to link, or the id of an existing identity.
extension APIRoutes {
    var identities: [Endpoint] {
        let path = "/auth/identities"
        let operations = operations.identities
        return [
            operations.list.at(
                .get, path, "The account's identities", takes: .nothing,
                returns: .json { IdentityList(identities: $0) }),
            operations.link.at(
                .post, path + "/{identity}", "Links an identity of that provider",
                takes: .json(documented: ProofBody.self) { request in
                    ProviderInput(provider: request["identity"], body: Result { try request.link })
                },
                returns: .link),
            self.operations.providers.beginLink.at(
                .post, path + "/{identity}/authorize",
                "Where a browser goes to link an identity of that provider to this session's account",
                takes: .json(AuthorizationBody.self) { (provider: $1["identity"], request: $0.request) },
                returns: .json),
            operations.reauthenticate.at(
                .post, "/auth/reauthenticate",
                "Opens a session with a fresh proof of one of the account's own identities",
                takes: .json(documented: NamedProofBody.self) { request in
                    let body = try request.decode(ProofBody.self)
                    return (body.provider, body.submitted(by: request), body.remember)
                },
                returns: .json(description: "A session of the account")),
            operations.changeAddress.at(
                .post, path + "/{identity}/address", "Sends a code to a new address of the identity",
                takes: .json(AddressBody.self) { (identity: try $1.identity, address: $0) },
                returns: .json(status: .accepted)),
            operations.verifyAddress.at(
                .post, path + "/{identity}/address/verify", "Gives the identity the address that the code was sent to",
                takes: .json(OneTimeCodeBody.self) { (identity: try $1.identity, code: $0.presented) }, returns: .json),
            operations.remove.at(
                .delete, path + "/{identity}",
                "Unlinks an identity; unlinking the last one deletes the account; `current` is the one of this session",
                takes: RequestShape { $0["identity"].hasSameBytes(as: "current") ? nil : try $0.identity },
                returns: .removal),
            operations.review.at(
                .post, path + "/review", "Keeps and removes identities with the token that a password reset mailed",
                takes: .json, returns: .empty()),
        ]
    }
}

extension IncomingRequest {
    fileprivate var identity: UUID {
        get throws {
            guard let id = UUID(uuidString: self["identity"]) else { throw AccountsError.identityNotFound }
            return id
        }
    }

    fileprivate var link: IdentityOperations.Link {
        get throws {
            let body = try decode(ProofBody.self)
            return (body.submitted(by: self), body.onConflict, body.remember)
        }
    }
}

extension ProofBody {
    /// The proof; a direct provider's credential is decoded from the request unless `credential` decodes it.
    func submitted(by request: IncomingRequest, credential: (any CredentialDecoding)? = nil) -> SubmittedProof {
        var proof = SubmittedProof(credential: credential ?? request, origin: request.origin)
        (proof.email, proof.password) = (email, password)
        (proof.challengeID, proof.code) = (challengeId, code)
        (proof.state, proof.redirectURI, proof.codeVerifier) = (state, redirectURI, codeVerifier)
        (proof.idToken, proof.nonce, proof.accessToken) = (idToken, nonce, accessToken)
        return proof
    }
}

extension ResponseShape<LinkOutcome> {
    fileprivate static var link: Self {
        Self(responses: [
            .init(body: SignedIn.self, description: "A session of the account"),
            .init(
                status: .accepted, body: RegistrationResponse.self,
                description: "An address with a password: a token is mailed that links it"),
        ]) { outcome, _ in
            switch outcome {
            case .linked(let signedIn): .json(signedIn)
            case .mailed(let address): .json(RegistrationResponse(email: address), status: .accepted)
            }
        }
    }
}

extension ResponseShape<IdentityRemoval> {
    fileprivate static var removal: Self {
        Self(responses: [
            .init(
                body: IdentityRemovalResponse.self, description: "Whether the account is being deleted",
                headers: APIRoutes.receiptHelp)
        ]) { outcome, context in
            guard case .accountDeleted(let receipt) = outcome else {
                return .json(IdentityRemovalResponse(accountDeleted: false))
            }
            return .json(
                IdentityRemovalResponse(accountDeleted: true), headers: [.location: context.erasurePath(receipt)])
        }
    }
}
