internal import ProviderKit

/// The parameters of a service's page beyond those of the protocol: fixed ones, and the names that apps may pass.
struct AuthorizationParameters: Sendable {
    private let fixed: [String: String]
    let forwarded: [String]

    /// - Throws: `SettingsError` for a name that the server sends itself, or that apps could replace.
    init(fixed: [String: String?]?, forwarded: [String]?) throws {
        let (fixed, forwarded) = (fixed ?? [:], forwarded ?? [])
        try Self.check(fixed.keys, of: "authorizationParameters")
        try Self.check(forwarded, of: "forward")
        if let empty = fixed.first(where: { $0.value?.isEmpty ?? true }) {
            throw SettingsError(setting: "authorizationParameters", reason: "\(empty.key) has no value")
        }
        if let both = forwarded.first(where: { fixed.keys.contains($0) }) {
            throw SettingsError(setting: "forward", reason: "\(both) is fixed by authorizationParameters")
        }
        self.fixed = fixed.compactMapValues(\.self)
        self.forwarded = forwarded
    }

    /// The query of the page's URL; the flow's own parameters replace others of the same name.
    func query(of flow: RedirectFlow, own: [String: String?]) -> [String: String] {
        var query = flow.parameters.filter { forwarded.containsBytes(of: $0.key) }.merging(fixed) { $1 }
        query.merge(own.compactMapValues(\.self)) { $1 }
        // The authentication must be new (OpenID Connect Core, 3.1.2.1).
        if flow.requiresFreshLogin { query.merge(["prompt": "login", "max_age": "0"]) { $1 } }
        return query
    }

    /// Refuses other characters too, because some services take `redirect.uri` for `redirect_uri`.
    private static func check(_ names: some Sequence<String>, of setting: String) throws {
        for name in names {
            guard (1...64).contains(name.utf8.count),
                name.utf8.allSatisfy({ $0.isASCIILetterOrDigit || "_-".utf8.contains($0) })
            else {
                throw SettingsError(
                    setting: setting, reason: "\"\(name)\" is not a name of up to 64 letters, digits, _ and -")
            }
            let lowercase = name.lowercased()
            guard !ownNames.contains(lowercase), !ownPrefixes.contains(where: lowercase.hasPrefix) else {
                throw SettingsError(setting: setting, reason: "\(name) is a parameter that the server sends itself")
            }
        }
    }

    private static let ownNames: Set = ["state", "nonce", "redirect_uri", "scope"]
    private static let ownPrefixes = ["response_", "code_", "client_", "request"]
}

extension String {
    /// Adds the parameters in the order of their names.
    func addingSortedQuery(_ parameters: [String: String]) -> String {
        parameters.sorted { $0.key < $1.key }.reduce(self) { $0.addingQuery([$1.key: $1.value]) }
    }
}

/// Settings of all services.
extension SettingField {
    static let authorizationParameters = SettingField(
        "authorizationParameters", .map, help: "Parameters that are always sent to the page, such as acr_values.")
    static let forward = SettingField(
        "forward", .texts, help: "Names of parameters that apps may pass to the page, such as login_hint.")
}
