internal import Foundation

/// Sends HTTP requests to the service behind a provider.
///
/// The server limits time, sizes and destinations, so that a slow or broken service affects its own provider only.
public protocol HTTPFetching: Sendable {
    /// Returns the response, whatever its status.
    /// - Throws: `ProviderError.unavailable` if there is no response, or the destination is not allowed.
    func fetch(_ request: FetchRequest) async throws -> FetchResponse
}

/// A request to a service.
public struct FetchRequest: Sendable, Equatable {
    /// An absolute URL, `https` outside of tests.
    public let url: String
    /// Further header fields; `Accept` is `application/json` unless these contain it.
    public var headers: [String: String]
    /// The form of a POST, sent as `application/x-www-form-urlencoded`.
    public let form: [String: String]?
    /// The JSON text of a POST that has no form.
    package let json: [UInt8]?
    /// A method other than GET without content and POST with content; `nil` for these.
    package var method: String?

    /// A GET; `bearer` is an access token (RFC 6750, 2.1).
    public static func get(_ url: String, bearer: String? = nil) -> FetchRequest {
        FetchRequest(url: url, headers: bearer.map { ["Authorization": "Bearer \($0)"] } ?? [:], form: nil, json: nil)
    }

    /// A POST of a form.
    public static func post(_ url: String, form: [String: String]) -> FetchRequest {
        FetchRequest(url: url, headers: [:], form: form, json: nil)
    }

    /// A POST of a JSON text.
    package static func post(_ url: String, json: [UInt8]) -> FetchRequest {
        FetchRequest(url: url, headers: [:], form: nil, json: json)
    }

    /// The body of a POST and its media type; `nil` for a GET.
    package var content: (type: String, bytes: [UInt8])? {
        encodedForm.map { ("application/x-www-form-urlencoded", Array($0.utf8)) }
            ?? json.map { ("application/json", $0) }
    }

    /// The encoded form (WHATWG URL, 5.2), with its fields sorted by name.
    public var encodedForm: String? {
        form?.sorted { $0.key < $1.key }.map { "\($0.key.formEncoded)=\($0.value.formEncoded)" }.joined(separator: "&")
    }
}

/// A service's response.
public struct FetchResponse: Sendable {
    /// The status code (RFC 9110, 15).
    public let status: Int
    /// Header fields by lower-case name.
    public let headers: [String: String]
    /// The complete body; a body beyond the server's limit throws instead.
    public let body: [UInt8]

    /// Creates a response; only the server and tests of a provider need to call this.
    public init(status: Int, headers: [String: String] = [:], body: [UInt8]) {
        (self.status, self.headers, self.body) = (status, headers, body)
    }

    /// Whether the status is 200 to 299.
    public var isSuccess: Bool { (200...299).contains(status) }
    /// Whether the service refused the request, apart from rate limits and timeouts.
    public var isRefusal: Bool { (400...499).contains(status) && status != 408 && status != 429 }

    /// The body as JSON; `nil` if the body is not JSON.
    public var json: JSONValue? { JSONValue(json: body) }

    /// How long the response may be cached (RFC 9111, 5.2.2.1), limited to `bounds`, in seconds; `standard` if the
    /// response has no valid `max-age`.
    public func lifetime(in bounds: ClosedRange<Int>, standard: Int) -> Duration {
        let header = headers["cache-control"].flatMap { $0.utf8.count <= 1024 ? $0 : nil } ?? ""
        let directives = header.lowercased().split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        if directives.contains("no-store") || directives.contains("no-cache") { return .seconds(bounds.lowerBound) }
        let age = directives.lazy.filter { $0.hasPrefix("max-age=") }.compactMap { Int($0.dropFirst(8)) }.first
        return .seconds(min(max(age ?? standard, bounds.lowerBound), bounds.upperBound))
    }
}

extension String {
    /// The text with all characters except ASCII letters, digits and `-._~` percent-encoded, for a query or a form.
    public var formEncoded: String {
        var text = ""
        for byte in utf8 {
            if byte.isASCIILetterOrDigit || "-._~".utf8.contains(byte) {
                text.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                let digits = String(byte, radix: 16, uppercase: true)
                text += digits.count == 1 ? "%0\(digits)" : "%\(digits)"
            }
        }
        return text
    }

    /// This URL with the parameters added to its query, except those whose value is `nil`.
    public func addingQuery(_ parameters: KeyValuePairs<String, String?>) -> String {
        let query = parameters.compactMap { name, value in value.map { "\(name.formEncoded)=\($0.formEncoded)" } }
        guard !query.isEmpty else { return self }
        return self + (contains("?") ? "&" : "?") + query.joined(separator: "&")
    }
}
