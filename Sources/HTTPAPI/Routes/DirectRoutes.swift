internal import Accounts
internal import ProviderKit

/// One route for each installed kind of provider whose proof is in the request, made from the provider's own credential
/// type.
struct DirectRoutes {
    let useCases: UseCases
    let installed: [any Provider.Type]

    var endpoints: [Endpoint] {
        installed.compactMap { $0 as? any DirectProvider.Type }.map { endpoint(for: $0) }
    }

    /// Limited where the configuration has a limit of the route's name.
    private func endpoint<P: DirectProvider>(for type: P.Type) -> Endpoint {
        .post(
            "/auth/\(P.route)", "Signs in: \(P.displayName)", limit: RateLimit(rawValue: P.route),
            takes: DirectBody<P.Credential>.self,
            answers: SessionResponse.self,
            errors: [
                .invalidToken, .providerDisabled, .unsupportedProvider, .accountDisabled, .accountDeleted,
                .secondProofRequired, .providerUnavailable,
            ]
        ) { context, body in
            let application = context.application.application
            let configured = try application.providers.provider(ofKind: P.kind, named: body.provider)
            guard let provider = configured.provider as? P else { throw AccountsError.unsupportedProvider(P.kind) }
            let evidence = try await provider.verify(body.credential, from: context.origin)
            return try await useCases.signingIn(with: body.ticket, in: application) {
                try await useCases.signIn.signIn(with: evidence, of: configured, from: context.client, in: application)
            }
        }
    }
}

/// A provider's credential, beside the name of the provider if several of its kind are configured.
private struct DirectBody<Credential: RequestPayload>: RequestPayload {
    let provider: String?
    let ticket: String?
    let credential: Credential

    static var fields: RequestFields<Self> {
        RequestFields(Self.init, .init("provider"), .init("ticket"), .init(flattening: Credential.self))
    }
}
