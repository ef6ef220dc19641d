internal import Accounts
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import ProviderKit

/// The few pages for browsers: where mailed links lead unless an application has pages of its own, and what
/// `gatehouse dev` keeps instead of sending it.
struct PageRoutes {
    let inbox: (any Inbox)?

    var endpoints: [Endpoint] {
        [verifyEmail, resetPassword] + (inbox.map { [inboxPage($0)] } ?? [])
    }

    private var verifyEmail: Endpoint {
        .raw("/verify-email", "Confirms a registration when its button is pressed") { context in
            .page(
                .verifyEmail(
                    pathPrefix: context.pathPrefix,
                    asksPassword: context.application.application.providers.linksNeedPassword))
        }
    }

    private var resetPassword: Endpoint {
        .raw("/reset-password", "Sets a new password") { context in
            .page(.resetPassword(pathPrefix: context.pathPrefix))
        }
    }

    /// It is there under `gatehouse dev` alone, which listens on loopback: tests poll it.
    private func inboxPage(_ inbox: any Inbox) -> Endpoint {
        var endpoint = readsInbox(inbox)
        endpoint.isUnlimited = true
        return endpoint
    }

    private func readsInbox(_ inbox: any Inbox) -> Endpoint {
        .raw("/dev/inbox", "Messages that would have been sent") { context in
            // A page of another host must not read it by having its name lead here (DNS rebinding).
            guard context.request.hostName.isLoopbackHost else {
                throw APIError(.unauthorizedRequestOrigin, "The inbox is available only on localhost")
            }
            let payload = InboxPayload(inbox.messages())
            let accepted = context.headers[.accept] ?? ""
            return accepted.contains("application/json")
                ? .json(payload) : .page(.inbox(payload, server: context.application.application.issuer))
        }
    }
}

extension Response {
    static func page(_ page: Page, status: HTTPResponse.Status = .ok) -> Response {
        var headers = HTTPFields()
        for (name, value) in page.headers {
            if let name = HTTPField.Name(name) { headers[name] = value }
        }
        return Response(status: status, headers: headers, body: .init(byteBuffer: ByteBuffer(string: page.html)))
    }
}
