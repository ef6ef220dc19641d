package import ProviderKit

extension VerifiedIdentity {
    /// Verified addresses for which the provider is authoritative.
    package var proven: [Address] { addresses.filter { $0.isVerified && $0.isAuthoritative }.map(\.address) }

    /// The rule by which the evidence opens a new account if its addresses have no owner.
    var ruleWithoutOwner: LinkingRule {
        addresses.isEmpty ? .identityNew : proven.isEmpty ? .addressUnproven : .addressProven
    }

    /// Whether a successful sign-in with this evidence writes more rows than those of the session.
    var writesBesideSession: Bool { singleUse != nil || tokens != nil }

    /// Returns the evidence without texts that cannot be stored, which a client may have chosen.
    /// - Throws: `ProviderError.refused` for a subject that is empty, too long, or contains U+0000.
    func checked() throws -> VerifiedIdentity {
        guard (1...255).contains(providerUid.utf8.count), !providerUid.utf8.contains(0) else {
            throw ProviderError.refused
        }
        var evidence = self
        evidence.displayName = displayName.flatMap { name in
            let plain = name.unicodeScalars.filter { $0 != "\0" }.prefix(Profile.longestName)
            return plain.isEmpty ? nil : String(String.UnicodeScalarView(plain))
        }
        evidence.profile = profile.filter { !$0.key.utf8.contains(0) && !$0.value.holdsNUL && $0.value.isSmall }
        return evidence
    }
}

extension JSONValue {
    /// Whether the value is at most 2 KiB of JSON, since access tokens may contain it and a picture can be a data URL.
    fileprivate var isSmall: Bool { storedSize <= 2048 }

    /// Whether a string in the value contains U+0000, which PostgreSQL cannot store
    /// (https://www.postgresql.org/docs/current/datatype-json.html).
    fileprivate var holdsNUL: Bool {
        switch self {
        case .string(let text): text.utf8.contains(0)
        case .array(let items): items.contains(where: \.holdsNUL)
        case .object(let members): members.contains { $0.key.utf8.contains(0) || $0.value.holdsNUL }
        case .null, .bool, .integer, .number: false
        }
    }
}
