internal import Foundation

/// One call of the API.
struct Call: Sendable {
    enum Access: Sendable { case open, bearer }

    /// When a failed call is sent again; see `Server.answer(to:bearer:)`.
    enum Repetition: Sendable {
        case never
        /// Repeats unless the call timed out.
        case unlessLate
        /// Also repeats once if the first attempt timed out.
        case evenIfLate
    }

    var method: String
    /// The path segments below the API's base URL; no call has a query, because proxies log URLs.
    var path: [String]
    var body: [String: GatehouseClient.JSON]?
    var access: Access
    var repetition = Repetition.never

    static func get(_ path: String..., access: Access = .bearer) -> Self {
        Self(method: "GET", path: path, access: access, repetition: .unlessLate)
    }

    static func post(_ path: String..., body: [String: GatehouseClient.JSON?] = [:], access: Access) -> Self {
        Self(method: "POST", path: path, body: body.compactMapValues { $0 }, access: access)
    }

    static func delete(_ path: String...) -> Self {
        Self(method: "DELETE", path: path, access: .bearer)
    }

    func changed(by change: (inout Self) -> Void) -> Self {
        var call = self
        change(&call)
        return call
    }
}

/// A successful answer.
struct Answer: Sendable {
    let status: Int
    let headers: [String: String]
    let body: Data
    /// When the request was sent; the lifetimes in the answer count from here.
    let askedAt: ContinuousClock.Instant

    func decoded<Value: Decodable>(as type: Value.Type = Value.self) throws(GatehouseError) -> Value {
        do {
            return try JSONDecoder.ofAPI.decode(type, from: body)
        } catch {
            // The decoder's error is left out: it could quote the answer.
            throw .unexpectedAnswer(status: status)
        }
    }
}

extension JSONDecoder {
    /// Reads times of RFC 3339, with or without a fraction of a second.
    static var ofAPI: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { decoder in
            let container = try decoder.singleValueContainer()
            let text = try container.decode(String.self)
            let whole = Date.ISO8601FormatStyle()
            let exact = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
            if let date = (try? exact.parse(text)) ?? (try? whole.parse(text)) { return date }
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "no time")
        }
        return decoder
    }
}
