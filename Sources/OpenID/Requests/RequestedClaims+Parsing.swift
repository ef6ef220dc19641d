internal import Foundation
internal import ProviderKit

extension RequestedClaims {
    /// Reads the parameter `claims`; ignores claims that are unknown, or of scopes that the client may not have.
    ///
    /// `subject` is the value that is required of `sub`.
    /// - Throws: `invalid_request` unless the text is a JSON object.
    static func parse(
        _ text: String, allowing scopes: Set<String>
    ) throws(OAuthError) -> (claims: RequestedClaims, subject: String?) {
        guard (try? JSONText.check(Array(text.utf8), limiting: nil)) != nil,
            case .object(let members)? = try? JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))
        else { throw .invalidRequest("claims is not a JSON object") }
        var claims = RequestedClaims()
        let allowed = { (members: [String: JSONValue]) in
            members.keys.filter { name in scope(of: name).map { scopes.contains($0.rawValue) } ?? false }.sorted()
        }
        if case .object(let members)? = members["userinfo"] { claims.userInfo = allowed(members) }
        guard case .object(let ofToken)? = members["id_token"] else { return (claims, nil) }
        claims.identityToken = allowed(ofToken)
        if case .object(let level)? = ofToken["acr"], level["essential"] == .bool(true) {
            claims.essentialLevels = values(of: level)
        }
        guard case .object(let subject)? = ofToken["sub"], case .string(let value)? = subject["value"] else {
            return (claims, nil)
        }
        return (claims, value)
    }

    /// The texts of `value` or `values`; `nil` if neither is present, which accepts any value.
    private static func values(of member: [String: JSONValue]) -> [String]? {
        if case .string(let value)? = member["value"] { return [value] }
        guard case .array(let values)? = member["values"] else { return nil }
        return values.compactMap { if case .string(let value) = $0 { value } else { nil } }
    }
}
