internal import Accounts
internal import HTTPTypes
internal import Hummingbird
internal import Pages
internal import ProviderKit

/// A page of `gatehouse dev`: the messages that it keeps instead of sending them.
struct InboxRoutes {
    let inbox: (any Inbox)?

    var endpoints: [Endpoint] { inbox.map { [page(of: $0)] } ?? [] }

    /// The inbox, which has no rate limit, because tests poll it and only `gatehouse dev` serves it, on loopback.
    private func page(of inbox: any Inbox) -> Endpoint {
        .open("/dev/inbox", "Messages that would have been sent", limits: .none) { context in
            // Prevents DNS rebinding: a page of another host could resolve its own name to loopback and read the inbox.
            guard context.request.request.hostName.isLoopbackHost else {
                throw APIError(.unauthorizedRequestOrigin, "The inbox is available only on localhost")
            }
            let payload = InboxPayload(messages: inbox.messages())
            let accepted = context.request.request.headers[.accept] ?? ""
            return accepted.contains("application/json")
                ? .json(payload) : .page(.inbox(payload, server: context.application.issuer))
        }
    }
}
