internal import Accounts
internal import HTTPTypes
internal import Hummingbird
internal import ProviderKit

/// One way in which an endpoint succeeds, for its documentation.
struct ReturnedResponse: Sendable {
    var status = HTTPResponse.Status.ok
    var body: (any DocumentedValue.Type)?
    /// The endpoint's summary, if it says enough.
    var description: String?
    /// The media type of content that no schema describes.
    var contentType: String?
    /// Header fields that a client needs, each with a sentence.
    var headers: [String: String] = [:]
}

/// How a route writes the output of an operation.
struct ResponseShape<Output: Sendable>: Sendable {
    let responses: [ReturnedResponse]
    /// Writes an error as a page, on routes that people see in a browser.
    var errorPage: (@Sendable (any Error, OperationContext) -> Response)?
    let write: @Sendable (Output, OperationContext) throws -> Response

    /// A JSON body, made from the output.
    static func json<Body: ResponsePayload>(
        status: HTTPResponse.Status = .ok, description: String? = nil, _ make: @escaping @Sendable (Output) -> Body
    ) -> Self {
        Self(responses: [.init(status: status, body: Body.self, description: description)]) { output, _ in
            .json(make(output), status: status)
        }
    }

    /// No body.
    static func empty(status: HTTPResponse.Status = .noContent, description: String? = nil) -> Self {
        Self(responses: [.init(status: status, description: description)]) { _, _ in Response(status: status) }
    }
}

extension ResponseShape<SignedIn> {
    /// The tokens of the session, its account and its identity.
    static var session: Self { .json(SessionResponse.init) }
}
