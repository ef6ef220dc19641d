internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import NIOFoundationCompat

extension Response {
    /// JSON that must not be cached: it is about one person at one moment.
    static func json(
        _ value: some Encodable, status: HTTPResponse.Status = .ok, headers: HTTPFields = HTTPFields()
    ) -> Response {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        guard let data = try? encoder.encode(value) else {
            return APIError(.internal, "Something went wrong").response()
        }
        var headers = headers
        headers[.contentType] = "application/json; charset=utf-8"
        if headers[.cacheControl] == nil {
            headers[.cacheControl] = "no-store"
        }
        return Response(status: status, headers: headers, body: .init(byteBuffer: ByteBuffer(data: data)))
    }

    /// Bytes that were encoded beforehand.
    static func bytes(_ bytes: [UInt8], type: String, cache: String = "no-store") -> Response {
        Response(
            status: .ok, headers: [.contentType: type, .cacheControl: cache],
            body: .init(byteBuffer: ByteBuffer(bytes: bytes)))
    }
}
