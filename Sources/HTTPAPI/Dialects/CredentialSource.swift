internal import HTTPTypes
internal import Hummingbird
internal import ProviderKit

/// A header field in which a request may have its token.
///
/// Tokens in queries are never read, because URLs end in logs.
enum CredentialSource: Sendable {
    /// `Authorization: Bearer` (RFC 6750, 2.1).
    case authorization
    /// A field whose value is the token; an empty one has none.
    case header(HTTPField.Name)

    /// If `ignoresOtherSchemes`, the field `Authorization` may be for a proxy, with another scheme than `Bearer`.
    /// - Throws: 401 if the field has something else than a token.
    fileprivate func tokens(in headers: HTTPFields, ignoringOtherSchemes ignoresOtherSchemes: Bool) throws -> [String] {
        switch self {
        case .authorization:
            try headers[values: .authorization].compactMap { value in
                if let token = EndpointResponder.bearer(in: value) { return token }
                guard ignoresOtherSchemes, !Self.isBearer(value) else { throw Self.missing }
                return nil
            }
        case .header(let name): headers[values: name].filter { !$0.isEmpty }
        }
    }

    /// Whether the scheme is `Bearer`, also if something else than a space follows it.
    private static func isBearer(_ value: String) -> Bool {
        let scheme = value.utf8.prefix { $0.isASCIILetterOrDigit || $0 == UInt8(ascii: "-") }
        return Substring(scheme).hasSameBytes(ignoringCaseAs: "bearer")
    }

    static let missing = APIError(.invalidToken, "Authorization: Bearer is missing")
}

extension [CredentialSource] {
    /// The token of a request, which may be repeated; `nil` if there is none.
    ///
    /// A client that may have its token in a field of its own may also have to sign in to a proxy, with
    /// `Authorization: Basic`.
    /// - Throws: 401 if the request has two different tokens, because readers would disagree on which one counts.
    func token(in headers: HTTPFields) throws -> String? {
        let hasFurther = contains { source in
            if case .header = source { true } else { false }
        }
        let tokens = try flatMap { try $0.tokens(in: headers, ignoringOtherSchemes: hasFurther) }
        guard let first = tokens.first else { return nil }
        guard tokens.allSatisfy({ $0.hasSameBytes(as: first) }) else {
            throw APIError(.invalidToken, "The request has two different tokens")
        }
        return first
    }
}
