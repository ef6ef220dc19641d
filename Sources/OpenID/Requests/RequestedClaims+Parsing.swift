internal import ProviderKit

extension RequestedClaims {
    /// Reads the parameter `claims`; ignores claims that are unknown, or of scopes that the client may not have.
    ///
    /// `subject` is the value that is required of `sub`.
    /// - Throws: `invalid_request` unless the text is a JSON object.
    static func parse(
        _ text: String, allowing scopes: Set<String>
    ) throws(OAuthError) -> (claims: RequestedClaims, subject: String?) {
        guard let request = JSONValue(json: Array(text.utf8)), request.object != nil else {
            throw .invalidRequest("claims is not a JSON object")
        }
        let allowed = { (members: JSONValue) in
            (members.object ?? [:]).keys
                .filter { name in scope(of: name).map { scopes.contains($0.rawValue) } ?? false }.sorted()
        }
        let ofToken = request["id_token"]
        var claims = RequestedClaims()
        claims.userInfo = allowed(request["userinfo"])
        claims.identityToken = allowed(ofToken)
        let level = ofToken["acr"]
        if level["essential"] == true {
            // `nil` if neither is present, which accepts any value.
            claims.essentialLevels =
                level["value"].string.map { [$0] } ?? level["values"].array?.compactMap(\.string)
        }
        return (claims, ofToken["sub"]["value"].string)
    }
}
