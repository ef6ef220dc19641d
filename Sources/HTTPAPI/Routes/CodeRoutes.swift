internal import Accounts
internal import HTTPTypes
internal import Hummingbird
internal import ProviderKit

/// One-time codes, two routes for each installed kind of provider that sends them.
struct CodeRoutes {
    let useCases: UseCases
    let installed: [any Provider.Type]

    var endpoints: [Endpoint] {
        installed.compactMap { $0 as? any ChallengeProvider.Type }.flatMap { endpoints(for: $0) }
    }

    private func endpoints<P: ChallengeProvider>(for type: P.Type) -> [Endpoint] {
        [send(type), verify(type)]
    }

    private func send<P: ChallengeProvider>(_ type: P.Type) -> Endpoint {
        .post(
            "/auth/\(P.kind)/otp", "Sends a code, whether or not the address is known", access: .optionalBearer,
            limit: .otpClient, takes: CodeTargetBody<P>.self, answers: SentCodeResponse.self, status: .accepted,
            errors: [.providerDisabled, .unsupportedProvider, .rateLimited]
        ) { context, body in
            let application = context.application.application
            let configured = try application.providers.provider(ofKind: P.kind, named: body.provider)
            return SentCodeResponse(
                try await useCases.codes.begin(
                    body.target, with: configured, by: context.optionalPrincipal, from: context.client, in: application)
            )
        }
    }

    private func verify<P: ChallengeProvider>(_ type: P.Type) -> Endpoint {
        .post(
            "/auth/\(P.kind)/otp/verify", "Signs in with a code", access: .optionalBearer,
            takes: OneTimeCodeBody.self, answers: SessionResponse.self,
            errors: [
                .invalidCredentials, .providerDisabled, .unsupportedProvider, .accountDisabled, .accountDeleted,
                .secondProofRequired,
            ]
        ) { context, body in
            let application = context.application.application
            let configured = try application.providers.provider(ofKind: P.kind, named: body.provider)
            return try await useCases.signingIn(with: body.ticket, in: application) {
                try await useCases.codes.complete(
                    body.presented, with: configured, by: context.optionalPrincipal, from: context.client,
                    in: application)
            }
        }
    }
}

/// The address, under the name that its provider gives it.
private struct CodeTargetBody<P: ChallengeProvider>: RequestPayload {
    let target: String
    let provider: String?

    static var fields: RequestFields<Self> {
        let schemas: [String: JSONSchema] = ["email": .email, "phone": .phone]
        return RequestFields(
            Self.init, .init(P.targetField, schemas[P.targetField] ?? .string), .init("provider"))
    }
}
