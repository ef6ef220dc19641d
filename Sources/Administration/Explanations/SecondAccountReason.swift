package import Accounts
package import Foundation
package import ProviderKit

/// Why a person has a second account, although they have another one.
package enum SecondAccountReason: Sendable, CaseIterable {
    /// Both uids lead to one account.
    case oneAccount
    /// The account is older than the other, so the other's creation decided.
    case older
    /// Neither the audit nor an identity shows how the account was created.
    case unknown
    case linkedByGuest
    case noAddress
    /// The evidence named no address of the other account.
    case otherAddress
    case notVerified
    /// The provider called the address verified, but is no authority for it.
    case notAuthoritative
    /// `linking.automatic` is or was `never`.
    case notJoined
    case severalOwners
    case noOwner
    /// Another account owns the address now, but none did when the account was created.
    case ownedSince
}

extension SecondAccountReason {
    /// The facts that decide on the reason.
    package struct Facts: Sendable {
        package var uid: UUID
        package var createdAt: Date
        /// The account that the other uid leads to; `nil` if none is given.
        package var other: UUID?
        package var otherCreatedAt: Date?
        /// The addresses that the other account owns, or that its identities show.
        package var otherAddresses: Set<Address>?
        /// What the audit recorded; `nil` if the event is gone or of an early version.
        package var record: EvidenceRecord?
        /// The evidence that created the account or made it permanent; `nil` if its identity was removed.
        package var evidence: VerifiedIdentity?
        /// The accounts other than this one that own a proven address of the evidence today.
        package var owners: Set<UUID> = []
        package var automatic: ApplicationPolicy.AutomaticLinking

        package init(
            uid: UUID, createdAt: Date, record: EvidenceRecord?, evidence: VerifiedIdentity?,
            automatic: ApplicationPolicy.AutomaticLinking
        ) {
            (self.uid, self.createdAt, self.record) = (uid, createdAt, record)
            (self.evidence, self.automatic) = (evidence, automatic)
        }
    }

    package init(_ facts: Facts) {
        self =
            if let other = facts.other, other == facts.uid {
                .oneAccount
            } else if let since = facts.otherCreatedAt, since > facts.createdAt {
                .older
            } else if facts.record?.rule == .guestUpgrade {
                .linkedByGuest
            } else if let evidence = facts.evidence {
                Self.reason(of: evidence, facts)
            } else {
                Self.reason(of: facts.record)
            }
    }

    private static func reason(of evidence: VerifiedIdentity, _ facts: Facts) -> Self {
        guard !evidence.addresses.isEmpty else { return .noAddress }
        let common = evidence.addresses.filter { facts.otherAddresses?.contains($0.address) ?? true }
        guard !common.isEmpty else { return .otherAddress }
        let proven = common.filter { $0.isVerified && $0.isAuthoritative }
        guard !proven.isEmpty else { return common.contains(where: \.isVerified) ? .notAuthoritative : .notVerified }
        let wasJoined = facts.record.map { $0.rule != .addressNotJoined } ?? (facts.automatic == .verified)
        guard wasJoined else { return .notJoined }
        return switch facts.owners.count {
        case 0: .noOwner
        case 1: .ownedSince
        default: .severalOwners
        }
    }

    /// The reason by the record alone, if the identity was removed since.
    private static func reason(of record: EvidenceRecord?) -> Self {
        switch record?.rule {
        case .identityNew: .noAddress
        case .addressUnproven:
            record?.addresses.contains(where: \.isVerified) == true ? .notAuthoritative : .notVerified
        case .addressNotJoined: .notJoined
        case .addressProven: .noOwner
        default: .unknown
        }
    }
}

// MARK: - For people

extension SecondAccountReason {
    /// The linking rule that the reason is a case of; `nil` if the record has the rule, or there is none.
    package var rule: LinkingRule? {
        switch self {
        case .oneAccount, .older, .unknown, .otherAddress: nil
        case .linkedByGuest: .guestUpgrade
        case .noAddress: .identityNew
        case .notVerified, .notAuthoritative: .addressUnproven
        case .notJoined: .addressNotJoined
        case .severalOwners: .addressOfSeveral
        case .noOwner, .ownedSince: .addressProven
        }
    }

    package var sentence: String {
        switch self {
        case .oneAccount: "Both uids lead to one account, because the accounts were merged."
        case .older: "This account is the older one, so the sign-in that created the other account decided."
        case .unknown: "Neither the audit nor an identity of the account shows how it was created."
        case .linkedByGuest:
            "A guest linked the identity, which made the guest's account permanent. A link joins no other account."
        case .noAddress: "The identity named no address by which another account could be found."
        case .otherAddress: "The identity named no address that the other account has."
        case .notVerified:
            "The provider did not call the address verified, and an identity joins an account only by a verified address."
        case .notAuthoritative:
            "The provider called the address verified, but is no authority for it, so the address proved nothing."
        case .notJoined: "The application joined no identities by their addresses (linking.automatic: never)."
        case .severalOwners: "The identity proves addresses of several accounts, and joins none of them."
        case .noOwner: "No other account owned the address, so there was none to join."
        case .ownedSince: "Another account owns the address now, but could not be joined when this one was created."
        }
    }

    /// What the person or the administrator can do.
    package var remedies: [String] {
        let merge = "The person merges both accounts at their account page, by a proof of each."
        return switch self {
        case .oneAccount: []
        case .older: ["Ask for the reason at the other account."]
        case .unknown, .linkedByGuest, .noAddress, .otherAddress, .severalOwners, .ownedSince: [merge]
        case .notVerified: [merge, "The person verifies the address at the provider before they sign up."]
        case .notAuthoritative:
            [merge, "Set trustEmail of the provider, if it verifies every address that it calls verified."]
        case .notJoined: [merge, "Set linking.automatic to verified."]
        case .noOwner: [merge, "The person verifies the address at the other account first."]
        }
    }
}
