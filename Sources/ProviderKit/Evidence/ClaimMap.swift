/// Where each of our claims stands in what a service, or a token, says about a person.
///
/// An admin's `claims: { ours: theirs }` over a default; theirs may be a dotted path, and nothing switches a claim off.
public struct ClaimMap: Sendable {
    /// Our own names; any other one of the map goes into the profile under that name.
    public enum Name: String, Sendable, CaseIterable {
        case providerUid, email, emailVerified, phone, phoneVerified, displayName
    }

    /// OpenID Connect Core, 5.1.
    public static let standard = [
        "providerUid": "sub", "email": "email", "emailVerified": "email_verified", "phone": "phone_number",
        "phoneVerified": "phone_number_verified", "displayName": "name",
    ]

    private let paths: [String: String]
    /// The names that are not the standard's own.
    private let mapped: Set<String>

    /// An admin's map over a default; what has no path is switched off.
    /// - Throws: `SettingsError` without `providerUid`: nobody would be known.
    public init(_ configured: [String: String?], over standard: [String: String] = [:]) throws {
        var paths = standard
        for (name, path) in configured { paths[name] = path }
        guard paths[Name.providerUid.rawValue] != nil else {
            throw SettingsError(setting: "claims", reason: "lacks providerUid, without which nobody is known")
        }
        if let name = paths.filter({ $0.value.isEmpty }).keys.min() {
            throw SettingsError(setting: "claims", reason: "has an empty path for \(name)")
        }
        mapped = Set(configured.keys.filter { paths[$0] != standard[$0] })
        self.paths = paths
    }

    /// What stands at the place of one of ours; `.null` for nothing.
    public func value(_ name: Name, in document: JSONValue) -> JSONValue {
        paths[name.rawValue].map { document[claim: $0] } ?? .null
    }

    /// Whom the document is about: a text that is not empty, or the whole number by which an old system knows people.
    public func subject(in document: JSONValue) -> String? {
        let claim = value(.providerUid, in: document)
        return claim.string.flatMap { $0.isEmpty ? nil : $0 } ?? claim.integer.map { String($0) }
    }

    /// Whether it is read at all.
    public func has(_ name: Name) -> Bool { paths[name.rawValue] != nil }

    /// Whether an admin has put it elsewhere.
    public func isMapped(_ name: Name) -> Bool { mapped.contains(name.rawValue) }

    /// The further names of the map, with their paths.
    public var further: [String: String] { paths.filter { Name(rawValue: $0.key) == nil } }
}

extension JSONValue {
    /// The member of that very name, for names are often URLs, or else what stands at that dotted path.
    public subscript(claim path: String) -> JSONValue {
        let member = self[path]
        return member.isNull ? self[path: path] : member
    }

    /// The claims of these names or dotted paths, without those that are not there.
    public func claims(_ names: [String]) -> [String: JSONValue] {
        Dictionary(names.map { ($0, self[claim: $0]) }) { $1 }.filter { !$1.isNull }
    }
}
