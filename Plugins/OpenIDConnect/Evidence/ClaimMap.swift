internal import ProviderKit

/// Where each of our claims stands in what a service says about a person.
struct ClaimMap: Sendable {
    /// Our own names; any other one of the map goes into the profile under that name.
    enum Name: String, CaseIterable {
        case providerUid, email, emailVerified, phone, phoneVerified, displayName
    }

    /// OpenID Connect Core, 5.1.
    static let standard = [
        "providerUid": "sub", "email": "email", "emailVerified": "email_verified", "phone": "phone_number",
        "phoneVerified": "phone_number_verified", "displayName": "name",
    ]

    private let paths: [String: String]
    /// The names that are not the standard's own.
    private let mapped: Set<String>

    /// An admin's map over a default; what has no path is switched off.
    /// - Throws: `SettingsError`.
    init(_ configured: [String: String?], over standard: [String: String] = [:]) throws {
        var paths = standard
        for (name, path) in configured { paths[name] = path }
        guard paths[Name.providerUid.rawValue] != nil else {
            throw SettingsError(setting: "claims", reason: "lacks providerUid")
        }
        if let name = paths.filter({ $0.value.isEmpty }).keys.min() {
            throw SettingsError(setting: "claims", reason: "has an empty path for \(name)")
        }
        mapped = Set(configured.keys.filter { paths[$0] != standard[$0] })
        self.paths = paths
    }

    /// What stands at the place of one of ours.
    func value(_ name: Name, in document: JSONValue) -> JSONValue {
        paths[name.rawValue].map { document[claim: $0] } ?? .null
    }

    func has(_ name: Name) -> Bool { paths[name.rawValue] != nil }

    func isMapped(_ name: Name) -> Bool { mapped.contains(name.rawValue) }

    /// The further names of the map, with their paths.
    var further: [String: String] { paths.filter { Name(rawValue: $0.key) == nil } }
}

extension JSONValue {
    /// The member of that very name, for names are often URLs, or else what stands at that dotted path.
    subscript(claim path: String) -> JSONValue {
        let member = self[path]
        return member.isNull ? self[path: path] : member
    }
}
