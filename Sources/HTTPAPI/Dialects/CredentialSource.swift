internal import HTTPTypes
internal import Hummingbird
internal import ProviderKit

/// A header field in which a request may have its token.
///
/// Tokens in queries are never read, because URLs end in logs.
enum CredentialSource: Sendable {
    /// `Authorization: Bearer` (RFC 6750, 2.1).
    case authorization
    /// A field whose value is the token.
    case header(HTTPField.Name)

    /// - Throws: 401 if the field has something else than a token.
    fileprivate func tokens(in headers: HTTPFields) throws -> [String] {
        switch self {
        case .authorization:
            try headers[values: .authorization].map { value in
                guard let token = EndpointResponder.bearer(in: value) else { throw Self.missing }
                return token
            }
        case .header(let name): headers[values: name]
        }
    }

    static let missing = APIError(.invalidToken, "Authorization: Bearer is missing")
}

extension [CredentialSource] {
    /// The token of a request, which may be repeated; `nil` if there is none.
    /// - Throws: 401 if the request has two different tokens, because readers would disagree on which one counts.
    func token(in headers: HTTPFields) throws -> String? {
        let tokens = try flatMap { try $0.tokens(in: headers) }
        guard let first = tokens.first else { return nil }
        guard tokens.allSatisfy({ $0.hasSameBytes(as: first) }) else {
            throw APIError(.invalidToken, "The request has two different tokens")
        }
        return first
    }
}
