internal import Accounts
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import NIOCore
internal import ProviderKit

/// The review of an account's identities after a password reset: a call for apps, and the server's own page.
struct ReviewRoutes {
    let useCases: UseCases

    var endpoints: [Endpoint] { [review] }

    var pages: [Endpoint] { [page, form] }

    private var review: Endpoint {
        .post(
            "/auth/identities/review", "Keeps and removes identities with the token that a password reset mailed",
            takes: ReviewBody.self, errors: [.invalidToken, .lastUsableIdentity]
        ) { context, body in
            try await useCases.identityReview.review(
                body.token, keeping: body.keep ?? [], removing: body.remove ?? [], in: context.application.application)
            return [:]
        }
    }

    private var page: Endpoint {
        .raw("/review", "Shows the identities of an account whose password was reset") { context in
            try await answering(context) {
                let token = try FormFields(context.query)["token"] ?? ""
                let application = context.application.application
                let identities = try await useCases.identityReview.identities(for: token, in: application)
                return .review(
                    identities.map { ($0.id.text, $0.name(in: application), $0.linkedAt, $0.isQuarantined) },
                    token: token, pathPrefix: context.pathPrefix)
            }
        }
    }

    /// The form of that page: a token and, by its id, `keep` or `remove` for each identity that was decided on.
    private var form: Endpoint {
        Endpoint(
            method: .post, path: "/review", summary: "Keeps and removes identities when its button is pressed",
            access: .open, isForBrowsers: true, answer: .init(status: .ok, body: nil, description: "A page"),
            errors: [.invalidToken, .lastUsableIdentity]
        ) { context, buffer in
            try await answering(context) {
                let fields = try FormFields(String(buffer: buffer)).values
                let ids = { (choice: String) in
                    fields.filter { $0.value.hasSameBytes(as: choice) }.keys.compactMap(UUID.init)
                }
                try await useCases.identityReview.review(
                    fields["token"] ?? "", keeping: ids("keep"), removing: ids("remove"),
                    in: context.application.application)
                return .reviewed
            }
        }
    }

    /// A person reads a page, whatever is wrong.
    private func answering(_ context: OperationContext, _ body: () async throws -> Page) async throws -> Response {
        do {
            return .page(try await body())
        } catch {
            let known = APIError(any: error)
            if known == nil { context.log.error("Request failed", metadata: ["error": "\(error)"]) }
            return .page(.reviewError(known), status: .init(code: known?.code.status ?? 500))
        }
    }
}
