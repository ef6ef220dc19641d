internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import ProviderKit

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
}
