internal import Foundation

/// One exchange with the service behind a provider.
///
/// Deadlines, sizes and where a request may go are the server's business: a service that is slow, down or answers
/// without end costs its own provider alone.
public protocol HTTPFetching: Sendable {
    /// Any answer is one, whatever its status.
    /// - Throws: `ProviderError.unavailable` where none comes, or it may not be asked for.
    func fetch(_ request: FetchRequest) async throws -> FetchResponse
}

/// What is asked of a service.
public struct FetchRequest: Sendable, Equatable {
    /// Absolute, `https` outside of tests.
    public let url: String
    /// `Accept: application/json` unless it says otherwise.
    public var headers: [String: String]
    /// With a form it is a POST of `application/x-www-form-urlencoded`.
    public let form: [String: String]?
    /// With a JSON text it is a POST too; a request has a form, a JSON text, or neither.
    package let json: [UInt8]?

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

    /// What a POST carries; `nil` for a GET.
    package var content: (type: String, bytes: [UInt8])? {
        encodedForm.map { ("application/x-www-form-urlencoded", Array($0.utf8)) }
            ?? json.map { ("application/json", $0) }
    }

    /// The form as it is sent (WHATWG URL, 5.2), its fields in the order of their names.
    public var encodedForm: String? {
        form?.sorted { $0.key < $1.key }
            .map { "\($0.key.formEncoded)=\($0.value.formEncoded)" }
            .joined(separator: "&")
    }
}

/// What a service answered.
public struct FetchResponse: Sendable {
    /// As in RFC 9110, 15.
    public let status: Int
    /// By lower-case name.
    public let headers: [String: String]
    /// Whole: what is larger than the server's limit never becomes a response.
    public let body: [UInt8]

    /// An answer.
    public init(status: Int, headers: [String: String] = [:], body: [UInt8]) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// 200 to 299.
    public var isSuccess: Bool { (200...299).contains(status) }

    /// The body as JSON, `nil` where it is something else.
    public var json: JSONValue? { JSONValue(json: body) }

    /// How long the service lets its answer be kept (RFC 9111, 5.2.2.1), within these bounds; `standard` where it says
    /// nothing that can be read.
    public func lifetime(in bounds: ClosedRange<Int>, standard: Int) -> Duration {
        let header = headers["cache-control"].flatMap { $0.utf8.count <= 1024 ? $0 : nil } ?? ""
        let directives = header.lowercased().split(separator: ",")
            .map { $0.trimmingCharacters(in: .whitespaces) }
        if directives.contains("no-store") || directives.contains("no-cache") { return .seconds(bounds.lowerBound) }
        let age = directives.lazy.filter { $0.hasPrefix("max-age=") }.compactMap { Int($0.dropFirst(8)) }.first
        return .seconds(min(max(age ?? standard, bounds.lowerBound), bounds.upperBound))
    }
}

extension String {
    /// With everything escaped but letters, digits and `-._~`, so that it is safe in a query or a form.
    public var formEncoded: String {
        var text = ""
        for byte in utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                text.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                text += digits.count == 1 ? "%0\(digits)" : "%\(digits)"
            }
        }
        return text
    }

    /// This URL with further parameters in its query; those without a value are left out.
    public func addingQuery(_ parameters: KeyValuePairs<String, String?>) -> String {
        let query = parameters.compactMap { name, value in value.map { "\(name.formEncoded)=\($0.formEncoded)" } }
        guard !query.isEmpty else { return self }
        return self + (contains("?") ? "&" : "?") + query.joined(separator: "&")
    }
}
