internal import Foundation
package import ProviderKit

extension VerifiedIdentity {
    /// Addresses that the source may speak for, and says are the person's.
    package var proven: [Address] { addresses.filter { $0.isVerified && $0.isAuthoritative }.map(\.address) }

    /// Success writes more than the session.
    var writesBesideSession: Bool { singleUse != nil || tokens != nil }

    /// The evidence as it can be stored: an outsider's text is behind it.
    /// - Throws: `ProviderError.refused` for a subject that is empty, too long, or can't be stored.
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
    /// At most 2 KiB as JSON: a picture can be a page of base64, and tokens may have to carry what is exposed.
    fileprivate var isSmall: Bool {
        // One that can't be written can't be kept either.
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
