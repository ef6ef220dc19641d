/// Maps the server's claim names to the names in a service's profile or token.
///
/// The setting `claims: { serverName: serviceName }` overrides defaults. A service's name may be a dotted path; `null`
/// switches a claim off.
public struct ClaimMap: Sendable {
    /// The claims that the server interprets; claims under other names are stored in the profile.
    public enum Name: String, Sendable, CaseIterable {
        case providerUid, email, emailVerified, phone, phoneVerified, displayName
    }

    /// The standard claims of OpenID Connect Core, 5.1.
    public static let standard = [
        "providerUid": "sub", "email": "email", "emailVerified": "email_verified", "phone": "phone_number",
        "phoneVerified": "phone_number_verified", "displayName": "name",
    ]

    private let paths: [String: String]
    /// The names that were mapped to another path than the default.
    private let mapped: Set<String>

    /// Creates a map in which `configured` overrides `standard`; a `nil` path switches a claim off.
    /// - Throws: `SettingsError` if `providerUid` has no path.
    public init(_ configured: [String: String?], over standard: [String: String] = [:]) throws {
        var paths = standard
        for (name, path) in configured { paths[name] = path }
        guard paths[Name.providerUid.rawValue] != nil else {
            throw SettingsError(setting: "claims", reason: "lacks providerUid, which identifies a person")
        }
        if let name = paths.filter({ $0.value.isEmpty }).keys.min() {
            throw SettingsError(setting: "claims", reason: "has an empty path for \(name)")
        }
        mapped = Set(configured.keys.filter { paths[$0] != standard[$0] })
        self.paths = paths
    }

    /// The value of the claim in `document`; `.null` if the claim has no path or the document lacks it.
    public func value(_ name: Name, in document: JSONValue) -> JSONValue {
        paths[name.rawValue].map { document[claim: $0] } ?? .null
    }

    /// The subject id in the document: a non-empty string, or an integer, which older systems use.
    public func subject(in document: JSONValue) -> String? {
        let claim = value(.providerUid, in: document)
        return claim.string.flatMap { $0.isEmpty ? nil : $0 } ?? claim.integer.map { String($0) }
    }

    /// The phone number in the document, which is never authoritative, because phone numbers change owners.
    public func phone(in document: JSONValue) -> AddressClaim? {
        guard let number = value(.phone, in: document).string.flatMap({ PhoneNumber($0) }) else { return nil }
        let isVerified = value(.phoneVerified, in: document) == true
        return AddressClaim(address: .phone(number), isVerified: isVerified, isAuthoritative: false)
    }

    /// Whether a claim has a path.
    public func has(_ name: Name) -> Bool { paths[name.rawValue] != nil }

    /// Whether the configuration changed the path of a claim.
    public func isMapped(_ name: Name) -> Bool { mapped.contains(name.rawValue) }

    /// The configured claims that are not in `Name`, with their paths.
    public var further: [String: String] { paths.filter { Name(rawValue: $0.key) == nil } }
}

extension JSONValue {
    /// The member with exactly this name, since claim names may be URLs with dots; otherwise the value at this dotted
    /// path.
    public subscript(claim path: String) -> JSONValue {
        let member = self[path]
        return member.isNull ? self[path: path] : member
    }

    /// The claims with these names or dotted paths, without absent ones.
    public func claims(_ names: [String]) -> [String: JSONValue] {
        Dictionary(names.map { ($0, self[claim: $0]) }) { $1 }.filter { !$1.isNull }
    }
}
