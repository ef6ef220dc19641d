internal import Accounts
internal import Foundation
package import ProviderKit

/// The criteria of a search as they were sent, of which exactly one counts.
package struct SearchCriteria: RequestPayload {
    let uid, identity, session, receipt, merge: UUID?
    let email, phone, providerUid, provider, emailPrefix, phonePrefix, namePrefix: String?

    package static let fields = RequestFields(
        Self.init, .init("uid"), .init("identity"), .init("session"), .init("receipt"), .init("merge"),
        .init("email"), .init("phone"), .init("providerUid"), .init("provider"), .init("emailPrefix"),
        .init("phonePrefix"), .init("namePrefix"))

    package var hasPrefix: Bool { emailPrefix != nil || phonePrefix != nil || namePrefix != nil }
}

extension SearchTerm {
    /// The fewest characters of each kind of prefix, and the most of any.
    package static let shortest: [SearchPrefix.Subject: Int] = [.email: 3, .phone: 5, .name: 2]
    package static let longestPrefix = 254

    /// Reads the one criterion.
    ///
    /// - Throws: `AccountsError.missingParameter` without a criterion, and `invalidParameter` for several or for a text
    ///   that cannot be what it is said to be.
    package init(_ criteria: SearchCriteria) throws {
        var terms: [SearchTerm] = []
        func add<Value>(_ value: Value?, _ make: (Value) throws -> SearchTerm) rethrows {
            if let value { terms.append(try make(value)) }
        }
        add(criteria.uid) { .uid($0) }
        add(criteria.identity) { .identity($0) }
        add(criteria.session) { .session($0) }
        add(criteria.receipt) { .receipt($0) }
        add(criteria.merge) { .merge($0) }
        try add(criteria.email) { text in
            guard let address = EmailAddress(text) else { throw Self.malformed("email", "is not an e-mail address") }
            return .address(.email(address))
        }
        try add(criteria.phone) { text in
            guard let number = PhoneNumber(text) else { throw Self.malformed("phone", "is not a number, as in +33…") }
            return .address(.phone(number))
        }
        try add(criteria.providerUid) { id in
            guard let provider = criteria.provider else { throw AccountsError.missingParameter("provider") }
            return .providerUid(id, provider: provider)
        }
        try add(criteria.emailPrefix) { .prefix(try Self.prefix(of: .email, Self.normalised($0))) }
        try add(criteria.phonePrefix) { text in
            guard text.utf8.first == UInt8(ascii: "+"), text.utf8.dropFirst().allSatisfy(\.isASCIIDigit) else {
                throw Self.malformed("phonePrefix", "is + and digits")
            }
            return .prefix(try Self.prefix(of: .phone, text))
        }
        try add(criteria.namePrefix) { .prefix(try Self.prefix(of: .name, $0)) }
        if criteria.provider != nil, criteria.providerUid == nil {
            throw AccountsError.missingParameter("providerUid")
        }
        guard let term = terms.first else { throw AccountsError.missingParameter("email, uid or another criterion") }
        guard terms.count == 1 else { throw Self.malformed("The search", "has more than one criterion") }
        self = term
    }

    private static func prefix(of subject: SearchPrefix.Subject, _ text: String) throws -> SearchPrefix {
        let fewest = shortest[subject] ?? 1
        guard (fewest...longestPrefix).contains(text.unicodeScalars.count) else {
            throw malformed("\(subject.rawValue)Prefix", "has \(fewest) to \(longestPrefix) characters")
        }
        return SearchPrefix(subject: subject, text: text)
    }

    /// Normalises the beginning of an address as `EmailAddress` does the whole: NFC, ASCII letters in lower case.
    private static func normalised(_ text: String) -> String {
        let scalars = text.precomposedStringWithCanonicalMapping.unicodeScalars.map { scalar in
            ("A"..."Z").contains(scalar) ? Unicode.Scalar(UInt8(truncatingIfNeeded: scalar.value) | 0x20) : scalar
        }
        return String(String.UnicodeScalarView(scalars))
    }

    private static func malformed(_ name: String, _ reason: String) -> AccountsError {
        .invalidParameter(name, reason: reason)
    }
}
