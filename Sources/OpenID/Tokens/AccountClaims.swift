package import Foundation
internal import ProviderKit

/// What clients may learn about an account.
package struct AccountClaims: Sendable, Equatable {
    package var uid: UUID
    package var name, locale, email, phone: String?
    package var updatedAt: Date
    /// The accounts that were merged into it; userinfo alone needs them.
    package var absorbed: [UUID] = []

    package init(uid: UUID, name: String?, locale: String?, email: String?, phone: String?, updatedAt: Date) {
        (self.uid, self.name, self.locale, self.email, self.phone) = (uid, name, locale, email, phone)
        self.updatedAt = updatedAt
    }
}

extension AccountClaims {
    /// The claims that any of the scopes gives, or that are named.
    func members(scopes: [some StringProtocol], named: [String]) -> [String: JSONValue] {
        let all: [String: JSONValue?] = [
            "name": name.map { .string($0) }, "locale": language.map { .string($0) },
            "updated_at": .integer(Int64(updatedAt.timeIntervalSince1970)),
            "email": email.map { .string($0) }, "email_verified": email.map { _ in .bool(true) },
            "phone_number": phone.map { .string($0) }, "phone_number_verified": phone.map { _ in .bool(true) },
        ]
        return all.compactMapValues { $0 }.filter { name, _ in
            if named.containsBytes(of: name) { return true }
            return RequestedClaims.scope(of: name).map { scopes.containsBytes(of: $0.rawValue) } ?? false
        }
    }

    /// The first language of the account's `Accept-Language`, as one tag (RFC 5646, 2.1.1).
    private var language: String? {
        guard let tag = locale.flatMap({ LanguageRange.tags($0).first }) else { return nil }
        let subtags = tag.split(separator: "-")
        return subtags.enumerated().map { index, subtag in
            guard index > 0 else { return String(subtag) }
            return subtag.utf8.count == 2
                ? subtag.uppercased() : subtag.utf8.count == 4 ? subtag.capitalized : "\(subtag)"
        }
        .joined(separator: "-")
    }
}
