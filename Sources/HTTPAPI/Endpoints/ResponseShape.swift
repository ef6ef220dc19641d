internal import Accounts
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import NIOCore
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

/// Writes an error of a route in the route's own form; `nil` leaves it to the API's form.
typealias ErrorWriter = @Sendable (any Error, Request, APIRequestContext) -> Response?

/// How a route writes the output of an operation to a response.
struct ResponseShape<Output: Sendable>: Sendable {
    let responses: [ReturnedResponse]
    /// Writes every error of the route, also those of its guards; `nil` for an error in the API's own form.
    var writesError: ErrorWriter?
    let write: @Sendable (Output, OperationContext) throws -> Response

    /// Responds with a JSON body, which `make` creates from the output.
    static func json<Body: ResponsePayload>(
        status: HTTPResponse.Status = .ok, description: String? = nil, _ make: @escaping @Sendable (Output) -> Body
    ) -> Self {
        Self(responses: [.init(status: status, body: Body.self, description: description)]) { output, _ in
            .json(make(output), status: status)
        }
    }

    /// Responds with a JSON body, which `make` creates from the output and from the application's settings.
    static func json<Body: ResponsePayload>(
        status: HTTPResponse.Status = .ok, inContext make: @escaping @Sendable (Output, OperationContext) throws -> Body
    ) -> Self {
        Self(responses: [.init(status: status, body: Body.self)]) { output, context in
            .json(try make(output, context), status: status)
        }
    }

    /// Responds without a body.
    static func empty(status: HTTPResponse.Status = .noContent, description: String? = nil) -> Self {
        Self(responses: [.init(status: status, description: description)]) { _, _ in
            Response(status: status)
        }
    }
}

extension ResponseShape where Output: ResponsePayload {
    /// Responds with the output itself as JSON.
    static var json: Self { .json { $0 } }

    static func json(status: HTTPResponse.Status = .ok, description: String? = nil) -> Self {
        .json(status: status, description: description) { $0 }
    }
}

extension Response {
    /// A JSON response; it must not be cached unless `headers` contains `Cache-Control`.
    static func json(
        _ payload: some ResponsePayload, status: HTTPResponse.Status = .ok, headers: HTTPFields = HTTPFields()
    ) -> Response {
        .json(written: ByteBuffer(bytes: payload.json), status: status, headers: headers)
    }

    /// A response of JSON that is already encoded.
    static func json(
        written body: ByteBuffer, status: HTTPResponse.Status = .ok, headers: HTTPFields = HTTPFields()
    ) -> Response {
        var headers = headers
        // Most responses have eight header fields, including those that `APIResponder` adds.
        headers.reserveCapacity(8)
        headers.append(.json)
        if !headers.contains(.cacheControl) { headers.append(.noStore) }
        return Response(status: status, headers: headers, body: .init(byteBuffer: body))
    }

    /// A response with a body of the given media type.
    static func bytes(_ bytes: [UInt8], type: String, cache: String = "no-store") -> Response {
        Response(
            status: .ok, headers: [.contentType: type, .cacheControl: cache],
            body: .init(byteBuffer: ByteBuffer(bytes: bytes)))
    }

    /// A file that is written while it is sent.
    ///
    /// If that fails, the connection is closed, so that the file is not taken for a whole one.
    static func download(
        _ name: String, type: String, context: OperationContext,
        _ write: @escaping @Sendable (inout any ResponseBodyWriter) async throws -> Void
    ) -> Response {
        let headers: HTTPFields = [
            .contentType: type, .cacheControl: "no-store", .contentDisposition: "attachment; filename=\"\(name)\"",
        ]
        return Response(
            status: .ok, headers: headers,
            body: ResponseBody { body in
                do {
                    try await write(&body)
                } catch {
                    context.log.warning("A download has broken off", metadata: ["error": "\(error)"])
                    throw error
                }
                try await body.finish(nil)
            })
    }
}
