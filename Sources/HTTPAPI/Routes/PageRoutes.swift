internal import Accounts
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import NIOCore
internal import Pages
internal import ProviderKit

/// Pages for browsers: the targets of mailed links, unless an application has pages of its own, and the messages that
/// `gatehouse dev` keeps instead of sending them.
struct PageRoutes {
    let identities: IdentityOperations
    let inbox: (any Inbox)?

    var endpoints: [Endpoint] {
        [verifyEmail, resetPassword] + (inbox.map { [page(of: $0)] } ?? []) + [review, reviewForm]
    }

    private var verifyEmail: Endpoint {
        .open("/verify-email", "Confirms a registration when its button is pressed") { context in
            .page(
                .verifyEmail(
                    pathPrefix: context.scope.pathPrefix,
                    asksPassword: context.application.providers.linksNeedPassword))
        }
    }

    private var resetPassword: Endpoint {
        .open("/reset-password", "Sets a new password") { context in
            .page(.resetPassword(pathPrefix: context.scope.pathPrefix))
        }
    }

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

    private var review: Endpoint {
        identities.listForReview.at(
            .get, below: "", "/review", "Shows the identities of an account whose password was reset",
            takes: RequestShape { try $0.fields()["token"] ?? "" },
            returns: .reviewPage { review, context in
                .review(
                    review.identities.map {
                        ($0.id.text, $0.name(in: context.application), $0.linkedAt, $0.isQuarantined)
                    },
                    token: review.token, pathPrefix: context.scope.pathPrefix)
            })
    }

    /// Handles the form of the review page: a token, and `keep` or `remove` under the id of each identity that the
    /// person has decided on.
    private var reviewForm: Endpoint {
        identities.review.at(
            .post, below: "", "/review", "Keeps and removes identities when its button is pressed",
            takes: .browser(.post) { request in
                let fields = try request.fields().values
                let ids = { (choice: String) in
                    fields.filter { $0.value.hasSameBytes(as: choice) }.keys.compactMap(UUID.init)
                }
                return ReviewBody(token: fields["token"] ?? "", keep: ids("keep"), remove: ids("remove"))
            },
            returns: .reviewPage { _, _ in .reviewed })
    }
}

extension ResponseShape {
    /// Responds with a page, also for errors.
    fileprivate static func reviewPage(_ make: @escaping @Sendable (Output, OperationContext) -> Page) -> Self {
        Self(
            responses: [.init(description: "A page")], errorPage: { .errorPage($0, in: $1) { .reviewError($0) } }
        ) { output, context in
            .page(make(output, context))
        }
    }
}

extension Response {
    /// The page for an error, which is logged if it is unexpected.
    static func errorPage(_ error: any Error, in context: OperationContext, _ page: (APIError?) -> Page) -> Response {
        let known = APIError(any: error)
        if known == nil { context.log.error("Request failed", metadata: ["error": "\(error)"]) }
        return .page(page(known), status: .init(code: known?.code.status ?? 500))
    }

    static func page(_ page: Page, status: HTTPResponse.Status = .ok) -> Response {
        var headers = HTTPFields()
        for (name, value) in page.headers {
            if let name = HTTPField.Name(name) { headers[name] = value }
        }
        return Response(status: status, headers: headers, body: .init(byteBuffer: ByteBuffer(string: page.html)))
    }
}
