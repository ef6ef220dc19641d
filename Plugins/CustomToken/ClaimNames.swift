internal import ProviderKit

/// Where a system's tokens say what we want to know.
struct ClaimNames {
    private static let standard = [
        "providerUid": "sub", "email": "email", "emailVerified": "email_verified", "phone": "phone_number",
        "phoneVerified": "phone_number_verified", "displayName": "name",
    ]

    private let paths: [String: String]

    /// Our names to theirs; without a name of theirs nothing is read.
    ///
    /// Names beside the standard ones go into the profile.
    init(_ configured: [String: String?]) throws {
        var paths = Self.standard
        for (ours, theirs) in configured { paths[ours] = theirs }
        guard paths["providerUid"] != nil else {
            throw SettingsError(setting: "claims", reason: "switches off providerUid, without which nobody is known")
        }
        if let empty = paths.filter({ $0.value.isEmpty }).keys.min() {
            throw SettingsError(setting: "claims", reason: "has an empty path for \(empty)")
        }
        self.paths = paths
    }

    /// A claim by our name; theirs may be a path, unless it is the whole name of a claim, as URLs are.
    func value(_ ours: String, in token: TokenClaims) -> JSONValue {
        guard let theirs = paths[ours] else { return .null }
        let claim = token[theirs]
        return claim.isNull ? JSONValue.object(token.all)[path: theirs] : claim
    }

    /// Whom the token is about: old systems number people.
    func subject(in token: TokenClaims) -> String? {
        let value = value("providerUid", in: token)
        return value.string ?? value.integer.map(String.init)
    }

    /// What was asked for beside the standard claims.
    func profile(in token: TokenClaims) -> [String: JSONValue] {
        let names = paths.keys.filter { Self.standard[$0] == nil }
        return Dictionary(uniqueKeysWithValues: names.map { ($0, value($0, in: token)) }).filter { !$1.isNull }
    }
}
