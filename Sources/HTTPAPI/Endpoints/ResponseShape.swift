internal import Accounts
internal import HTTPTypes
internal import Hummingbird
internal import ProviderKit

/// One successful response of an endpoint, for its documentation.
struct ReturnedResponse: Sendable {
    var status = HTTPResponse.Status.ok
    var body: (any DocumentedValue.Type)?
    /// The description in the document; `nil` uses the endpoint's summary.
    var description: String?
    /// The media type of content that no schema describes.
    var contentType: String?
    /// Header fields that a client needs, with a description of each.
    var headers: [String: String] = [:]
}

/// How a route writes the output of an operation to a response.
struct ResponseShape<Output: Sendable>: Sendable {
    let responses: [ReturnedResponse]
    /// Writes an error as a page, on routes that people see in a browser.
    var errorPage: (@Sendable (any Error, OperationContext) -> Response)?
    let write: @Sendable (Output, OperationContext) throws -> Response

    /// Responds with a JSON body, which `make` creates from the output.
    static func json<Body: ResponsePayload>(
        status: HTTPResponse.Status = .ok, description: String? = nil, _ make: @escaping @Sendable (Output) -> Body
    ) -> Self {
        Self(responses: [.init(status: status, body: Body.self, description: description)]) { output, _ in
            .json(make(output), status: status)
        }
    }

    /// Responds without a body.
    static func empty(status: HTTPResponse.Status = .noContent, description: String? = nil) -> Self {
        Self(responses: [.init(status: status, description: description)]) { _, _ in Response(status: status) }
    }
}

extension ResponseShape<SignedIn> {
    /// Responds with the tokens of the session, its account and its identity.
    static var session: Self { .json(SessionResponse.init) }
}
