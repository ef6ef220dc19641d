internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import ProviderKit

/// Reads a request's body under the rules of docs/api.md for size, media type and syntax.
enum RequestBody {
    static let largest = 64 * 1024

    enum Form: String {
        case json = "application/json"
        case form = "application/x-www-form-urlencoded"
    }

    private static let tooLarge = APIError(.payloadTooLarge, "The body is larger than \(largest) bytes")

    /// Checks the size, then the media type, which an empty body does not need; if `form` is `nil`, the body is not
    /// read.
    static func collect(_ request: Request, as form: Form?) async throws -> ByteBuffer {
        if let length = request.headers[.contentLength].flatMap(Int.init), length > largest { throw tooLarge }
        guard let form else { return ByteBuffer() }
        var body = ByteBuffer()
        do {
            for try await var chunk in request.body {
                guard body.readableBytes + chunk.readableBytes <= largest else { throw tooLarge }
                body.writeBuffer(&chunk)
            }
        } catch let error where !(error is APIError || error is CancellationError) {
            throw APIError(.invalidParameter, "The body did not arrive as it was announced")
        }
        try checkType(request.headers[.contentType], isEmpty: body.readableBytes == 0, expected: form)
        return body
    }

    private static func checkType(_ type: String?, isEmpty: Bool, expected: Form) throws {
        let essence = type?.utf8.prefix { $0 != UInt8(ascii: ";") }.trimmingBlanks
        guard essence.map(Substring.init)?.hasSameBytes(ignoringCaseAs: expected.rawValue) ?? isEmpty else {
            throw APIError(.unsupportedMediaType, "Content-Type must be \(expected.rawValue)")
        }
    }

    /// Decodes JSON; an empty body counts as `{}`.
    /// - Throws: 400 with the path of the absent or malformed member.
    static func decode<Body: RequestPayload>(_ type: Body.Type, from buffer: ByteBuffer) throws -> Body {
        let bytes = buffer.readableBytes == 0 ? Array("{}".utf8) : Array(buffer.readableBytesView)
        do {
            try JSONText.check(bytes, limiting: type.fields.limit)
            return try JSONDecoder().decode(type, from: Data(bytes))
        } catch let error as DecodingError {
            throw APIError(error)
        } catch let error as JSONText.Fault {
            throw APIError(error)
        }
    }
}

extension APIError {
    fileprivate init(_ fault: JSONText.Fault) {
        switch fault {
        case .malformed: self.init(.invalidParameter, "The body is not well-formed JSON")
        case .holdsNUL: self.init(.invalidParameter, "U+0000 can't be stored and is not allowed anywhere in the body")
        case .tooDeep: self.init(.invalidParameter, "The body is nested deeper than \(JSONText.deepest) levels")
        case .unfitName: self.init(.invalidParameter, "The body has a \(Self.unfitName)")
        case .longNumber:
            self.init(.invalidParameter, "The body has a number of more than \(JSONText.longestNumber) bytes")
        case .repeatedName: self.init(.invalidParameter, "The body names a field twice")
        case .oversized(let limit): self.init(.invalidParameter, "\(limit.name) is larger than \(limit.bytes) bytes")
        }
    }

    static let unfitName =
        "name of more than \(JSONText.longestName) bytes, or with more than 32 combining marks in a row"

    init(_ error: DecodingError) {
        switch error {
        case .keyNotFound(let key, let context):
            self.init(.missingParameter, "\((context.codingPath + [key]).fieldPath) is missing")
        case .valueNotFound(_, let context): self.init(.missingParameter, "\(context.codingPath.fieldPath) is missing")
        case .typeMismatch(let type, let context):
            self.init(.invalidParameter, "\(context.codingPath.fieldPath) is not \(Self.name(of: type))")
        // Well-formed JSON, as `JSONText` has checked; of a number, the decoder does not say where it is.
        case .dataCorrupted(let context) where context.codingPath.isEmpty:
            self.init(.invalidParameter, "A number in the body is not a whole one, or not in range")
        case .dataCorrupted(let context): self.init(.invalidParameter, "\(context.codingPath.fieldPath) is malformed")
        @unknown default:
            self.init(.invalidParameter, "The body is malformed")
        }
    }

    private static func name(of type: any Any.Type) -> String {
        switch type {
        case is String.Type: "a text"
        case is Bool.Type: "true or false"
        case is any BinaryInteger.Type, is any BinaryFloatingPoint.Type: "a number in range"
        case is any RandomAccessCollection.Type: "a list"
        case is SentTime.Type: "a time in UTC, as in 2030-01-30T08:00:00Z"
        default: "an object"
        }
    }
}

extension [any CodingKey] {
    /// The path of a member, for example `fullName.givenName` or `claims[2]`.
    fileprivate var fieldPath: String {
        let path = reduce(into: "") { path, key in
            if let index = key.intValue {
                path += "[\(index)]"
            } else {
                path += path.isEmpty ? key.stringValue : "." + key.stringValue
            }
        }
        return path.isEmpty ? "The body" : String(path.prefix(128))
    }
}
