package import Foundation
package import ProviderKit

/// What an administrator looks for.
package enum SearchTerm: Sendable {
    case uid(UUID)
    case address(Address)
    /// The id of an identity.
    case identity(UUID)
    /// The provider's name for the person.
    case providerUid(String, provider: String)
    case session(UUID)
    /// The receipt of a deletion.
    case receipt(UUID)
    case merge(UUID)
    case prefix(SearchPrefix)

    /// The criterion's name on the wire, which the audit gets instead of the term.
    package var kind: String {
        switch self {
        case .uid: "uid"
        case .address(let address): address.kind.rawValue
        case .identity: "identity"
        case .providerUid: "providerUid"
        case .session: "session"
        case .receipt: "receipt"
        case .merge: "merge"
        case .prefix(let prefix): "\(prefix.subject.rawValue)Prefix"
        }
    }

    /// The term as a text, to which a cursor is bound; no cursor contains it.
    var text: String {
        switch self {
        case .uid(let id), .identity(let id), .session(let id), .receipt(let id), .merge(let id): id.uuidString
        case .address(let address): address.value
        case .providerUid(let id, let provider): "\(provider) \(id)"
        case .prefix(let prefix): prefix.text
        }
    }
}

/// The beginning of a verified address, or of a name.
package struct SearchPrefix: Sendable {
    package enum Subject: String, Sendable { case email, phone, name }

    package let subject: Subject
    /// Normalised like the stored texts; no character is a wildcard.
    package let text: String

    package init(subject: Subject, text: String) { (self.subject, self.text) = (subject, text) }
}

/// Why an account is among the results of a search.
package enum SearchMatch: String, Sendable, CaseIterable {
    /// The account owns the address.
    case address
    /// The account has an identity with the address, which it has not proved.
    case claim
    /// A sign-up with the address waits for its confirmation.
    case registration
    /// The uid is that of an account which this one has absorbed.
    case alias
    case prefix
    case uid, identity, providerUid, session, receipt, merge
}

/// One result of a search, before its account is read.
package struct SearchHit: Sendable {
    package enum Subject: Sendable {
        /// An account, which may have been absorbed since.
        case account(UUID)
        case signUp(PendingSignUp)
    }

    package let match: SearchMatch
    package let subject: Subject
    /// The sort key, in a form that may be in a cursor and so in a URL: sealed if it has an address or a name.
    package let position: [String]

    package init(_ match: SearchMatch, of subject: Subject, position: [String] = []) {
        (self.match, self.subject, self.position) = (match, subject, position)
    }
}

/// A sign-up with a password that waits for its confirmation.
package struct PendingSignUp: Sendable {
    package let provider, address: String
    package let displayName: String?
    package let createdAt: Date

    package init(provider: String, address: String, displayName: String?, createdAt: Date) {
        (self.provider, self.address, self.displayName, self.createdAt) = (provider, address, displayName, createdAt)
    }
}
