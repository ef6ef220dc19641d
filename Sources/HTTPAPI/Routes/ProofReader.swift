internal import Accounts
internal import NIOCore
internal import ProviderKit

/// A proof for one provider, in any form that the provider takes.
enum ReadProof: Sendable {
    case presented(PresentedProof)
    case password(email: String, password: String)
}

/// Reads the proof that a provider takes, and has it verified where that needs no database.
struct ProofReader {
    let context: OperationContext
    let body: ByteBuffer
    let fields: ProofBody

    init(_ body: ByteBuffer, of context: OperationContext) throws {
        self.context = context
        self.body = body
        fields = try RequestBody.decode(ProofBody.self, from: body)
    }

    func read(for configured: ConfiguredProvider) async throws -> ReadProof {
        let provider = configured.provider
        let hasPassword = provider is any PasswordProvider && (fields.email ?? fields.password) != nil
        if provider is any ChallengeProvider, fields.challengeId != nil || !hasPassword {
            return .presented(.oneTimeCode(try decode(OneTimeCodeBody.self).presented))
        }
        if provider is any PasswordProvider {
            let (email, password) = try requireBoth(fields.email, fields.password)
            return .password(email: email, password: password)
        }
        if provider is any RedirectProvider, fields.code != nil {
            return .presented(.redirectCode(try decode(CodeBody.self).presented))
        }
        if let provider = provider as? any NativeTokenProvider, fields.idToken != nil {
            return .presented(.evidence(try await provider.verify(decode(NativeToken.self))))
        }
        if let provider = provider as? any DirectProvider {
            return .presented(.evidence(try await evidence(of: provider)))
        }
        // It wants a code, and says so.
        return .presented(.redirectCode(try decode(CodeBody.self).presented))
    }

    private func evidence<P: DirectProvider>(of provider: P) async throws -> VerifiedIdentity {
        try await provider.verify(decode(P.Credential.self), from: context.origin)
    }

    private func decode<Body: RequestPayload>(_ type: Body.Type) throws -> Body {
        try RequestBody.decode(type, from: body)
    }
}
