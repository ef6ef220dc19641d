internal import Accounts
internal import Foundation
internal import ProviderKit

extension AccountClaims {
    /// The claims that any of the scopes gives, or that are named.
    func members(scopes: [some StringProtocol], named: [String]) -> [String: JSONValue] {
        var members: [String: JSONValue] = [:]
        func add(_ claim: String, _ value: @autoclosure () -> JSONValue?) {
            let isInScope = RequestedClaims.scope(of: claim).map { scopes.containsBytes(of: $0.rawValue) } ?? false
            if isInScope || named.containsBytes(of: claim) { members[claim] = value() }
        }
        add("name", name.map { .string($0) })
        add("locale", language.map { .string($0) })
        add("updated_at", .integer(Int64(updatedAt.timeIntervalSince1970)))
        add("email", email.map { .string($0) })
        add("email_verified", email.map { _ in .bool(true) })
        add("phone_number", phone.map { .string($0) })
        add("phone_number_verified", phone.map { _ in .bool(true) })
        return members
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
