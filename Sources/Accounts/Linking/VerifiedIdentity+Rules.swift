internal import Foundation
package import ProviderKit

extension VerifiedIdentity {
    /// Verified addresses for which the provider is authoritative.
    package var proven: [Address] { addresses.filter { $0.isVerified && $0.isAuthoritative }.map(\.address) }

    /// Whether success writes more than the session.
    var writesBesideSession: Bool { singleUse != nil || tokens != nil }

    /// The evidence without text that cannot be stored: a client may have chosen it.
    /// - Throws: `ProviderError.refused` for a subject that is empty, too long, or holds U+0000.
    func checked() throws -> VerifiedIdentity {
        guard (1...255).contains(providerUid.utf8.count), !providerUid.utf8.contains(0) else {
            throw ProviderError.refused
        }
        var evidence = self
        evidence.displayName = displayName.flatMap { name in
            let plain = String(String.UnicodeScalarView(name.unicodeScalars.filter { $0 != "\0" }.prefix(256)))
            return plain.isEmpty ? nil : plain
        }
        evidence.profile = profile.filter { !$0.key.utf8.contains(0) && !$0.value.holdsNUL && $0.value.isSmall }
        return evidence
    }
}

extension JSONValue {
    /// At most 2 KiB as JSON: access tokens may carry profile claims, and a picture can be a long data URL.
    fileprivate var isSmall: Bool {
        ((try? JSONEncoder().encode(self).count) ?? .max) <= 2048
    }

    /// PostgreSQL stores no U+0000 (https://www.postgresql.org/docs/current/datatype-json.html).
    fileprivate var holdsNUL: Bool {
        switch self {
        case .string(let text): text.utf8.contains(0)
        case .array(let items): items.contains(where: \.holdsNUL)
        case .object(let members): members.contains { $0.key.utf8.contains(0) || $0.value.holdsNUL }
        case .null, .bool, .integer, .number: false
        }
    }
}
