internal import Accounts
internal import HTTPTypes
internal import ProviderKit

/// Where providers tell the server of changes on their side, one route for each installed kind that does.
struct NotificationRoutes {
    let useCases: UseCases
    let installed: [any Provider.Type]

    var endpoints: [Endpoint] {
        installed.filter { $0 is any NotifyingProvider.Type }.map { endpoint(for: $0.kind) }
    }

    private func endpoint(for kind: String) -> Endpoint {
        .post(
            "/auth/\(kind)/notifications", "Takes a signed event of the provider", takes: NotificationBody.self,
            status: .ok, errors: [.invalidToken, .providerDisabled, .unsupportedProvider, .providerUnavailable]
        ) { context, body in
            let application = context.application.application
            let candidates = try application.providers.providers(ofKind: kind, named: body.provider)
            try await useCases.notifications.receive(body.payload, forOneOf: candidates, in: application)
            return [:]
        }
    }
}
