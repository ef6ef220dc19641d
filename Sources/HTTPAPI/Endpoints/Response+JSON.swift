internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import NIOFoundationCompat
internal import ProviderKit

extension Response {
    /// JSON that must not be cached: it is about one person at one moment.
    static func json(
        _ value: some Encodable, status: HTTPResponse.Status = .ok, headers: HTTPFields = HTTPFields()
    ) -> Response {
        guard let body = try? body(of: value) else {
            return APIError(.internal, "Something went wrong").response()
        }
        var headers = headers
        headers[.contentType] = "application/json; charset=utf-8"
        if headers[.cacheControl] == nil {
            headers[.cacheControl] = "no-store"
        }
        return Response(status: status, headers: headers, body: .init(byteBuffer: body))
    }

    private static func body(of value: some Encodable) throws -> ByteBuffer {
        if let value = value as? any DirectlyWritten {
            var object = JSONObjectWriter()
            value.write(to: &object)
            return ByteBuffer(bytes: object.object)
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        return ByteBuffer(data: try encoder.encode(value))
    }

    /// Bytes that were encoded beforehand.
    static func bytes(_ bytes: [UInt8], type: String, cache: String = "no-store") -> Response {
        Response(
            status: .ok, headers: [.contentType: type, .cacheControl: cache],
            body: .init(byteBuffer: ByteBuffer(bytes: bytes)))
    }
}
