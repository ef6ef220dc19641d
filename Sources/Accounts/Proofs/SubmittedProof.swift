package import ProviderKit

/// The proof members of a request, before the provider determines which of them are used.
package struct SubmittedProof: Sendable {
    package var email, password, challengeID, code: String?
    package var state, redirectURI, codeVerifier: String?
    package var idToken, nonce, accessToken: String?
    /// Decodes the credential type of a direct provider from the request.
    private let credential: any CredentialDecoding
    /// The origin of the request, which direct providers may check.
    private let origin: RequestOrigin

    package init(credential: any CredentialDecoding, origin: RequestOrigin) {
        (self.credential, self.origin) = (credential, origin)
    }

    /// Reads the form of proof that the provider accepts, and verifies it unless that requires the database.
    func read(for configured: ConfiguredProvider) async throws -> VerifiedProof {
        let provider = configured.provider
        let hasPassword = provider is any PasswordProvider && (email ?? password) != nil
        if provider is any ChallengeProvider, challengeID != nil || !hasPassword {
            return .presented(
                .oneTimeCode(
                    PresentedOneTimeCode(
                        challengeID: try required(challengeID, "challengeId"), code: try required(code, "code"))))
        }
        if provider is any PasswordProvider { return .password(try TypedPassword(email: email, password: password)) }
        if provider is any RedirectProvider, code != nil { return .presented(.redirectCode(try redirectCode())) }
        if let provider = provider as? any NativeTokenProvider, let idToken {
            let token = NativeToken(idToken: idToken, nonce: nonce, accessToken: accessToken)
            return .presented(.evidence(try await provider.verify(token)))
        }
        if let provider = provider as? any DirectProvider {
            return .presented(.evidence(try await verify(with: provider)))
        }
        // At this point `code` is missing, which `redirectCode` reports.
        return .presented(.redirectCode(try redirectCode()))
    }

    /// Reads the proof for a call that opens a session at once.
    /// - Throws: `AccountsError.invalidParameter` for an address with a password, which proves nothing until a mailed
    ///   token is presented.
    func presented(for configured: ConfiguredProvider) async throws -> PresentedProof {
        guard case .presented(let proof) = try await read(for: configured) else {
            throw AccountsError.invalidParameter("password", reason: "proves no identity here; send a code instead")
        }
        return proof
    }

    private func verify<P: DirectProvider>(with provider: P) async throws -> VerifiedIdentity {
        try await provider.verify(credential.decode(P.Credential.self), from: origin)
    }

    private func redirectCode() throws -> PresentedCode {
        PresentedCode(
            code: try required(code, "code"), state: state, redirectURI: try required(redirectURI, "redirect_uri"),
            codeVerifier: codeVerifier)
    }

    private func required(_ value: String?, _ name: String) throws(AccountsError) -> String {
        guard let value else { throw .missingParameter(name) }
        return value
    }
}

/// Decodes the credential type that a provider declares from the body of a request.
package protocol CredentialDecoding: Sendable {
    func decode<Credential: RequestPayload>(_ type: Credential.Type) throws -> Credential
}

/// A submitted proof in the form that its provider accepts.
enum VerifiedProof: Sendable {
    case presented(PresentedProof)
    case password(TypedPassword)
}

/// An address and a password, as a person typed them; neither is empty.
package struct TypedPassword: Sendable {
    package let email, password: String

    /// - Throws: `AccountsError.missingEmailOrPassword` if one is absent or empty.
    package init(email: String?, password: String?) throws(AccountsError) {
        guard let email, let password, !email.isEmpty, !password.isEmpty else { throw .missingEmailOrPassword }
        (self.email, self.password) = (email, password)
    }
}
