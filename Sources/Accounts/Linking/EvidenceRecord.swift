package import ProviderKit

/// What the audit keeps of the evidence that created an account or added an identity to one.
///
/// The addresses themselves are left out, and so is whether another account owned one of them: a person's export
/// contains the record.
package struct EvidenceRecord: Sendable, Equatable {
    /// The shape of a claim about an address.
    package struct Address: Sendable, Equatable {
        package let kind: ProviderKit.Address.Kind
        package let isVerified, isAuthoritative: Bool

        package init(kind: ProviderKit.Address.Kind, isVerified: Bool, isAuthoritative: Bool) {
            (self.kind, self.isVerified, self.isAuthoritative) = (kind, isVerified, isAuthoritative)
        }

        package var isProven: Bool { isVerified && isAuthoritative }
    }

    /// `nil` only for a record of a later version, which may have other rules.
    package let rule: LinkingRule?
    package let addresses: [Address]

    package init(_ rule: LinkingRule, of evidence: VerifiedIdentity) {
        self.rule = rule
        addresses = evidence.addresses.map { claim in
            Address(
                kind: claim.address.kind, isVerified: claim.isVerified, isAuthoritative: claim.isAuthoritative)
        }
    }
}

// MARK: - As details of an event

extension EvidenceRecord {
    private static let (rule, addresses) = ("rule", "addresses")
    private static let (kind, verified, authoritative) = ("kind", "verified", "authoritative")

    /// The members of the event's details.
    package var details: [String: JSONValue] {
        [
            Self.rule: rule.map { .string($0.rawValue) } ?? .null,
            Self.addresses: .array(
                addresses.map { address in
                    [
                        Self.kind: .string(address.kind.rawValue), Self.verified: .bool(address.isVerified),
                        Self.authoritative: .bool(address.isAuthoritative),
                    ]
                }),
        ]
    }

    /// Reads the details of an event; `nil` for an event of a version that recorded no evidence.
    package init?(_ details: JSONValue) {
        guard let items = details[Self.addresses].array else { return nil }
        rule = details[Self.rule].string.flatMap(LinkingRule.init(rawValue:))
        addresses = items.compactMap { item in
            item[Self.kind].string.flatMap(ProviderKit.Address.Kind.init(rawValue:)).map { kind in
                Address(
                    kind: kind, isVerified: item[Self.verified].bool ?? false,
                    isAuthoritative: item[Self.authoritative].bool ?? false)
            }
        }
    }
}

extension LinkingVerdict {
    /// The record of the evidence that the verdict adds to an account.
    ///
    /// Its rule is the one that would have decided if the addresses had no owner, unless the identity joins the account
    /// that owns them.
    func record(of evidence: VerifiedIdentity, in application: Application) -> EvidenceRecord {
        let recorded: LinkingRule =
            switch outcome {
            case .create:
                evidence.proven.isEmpty || application.policy.automaticLinking == .verified
                    ? evidence.ruleWithoutOwner : .addressNotJoined
            case .link: .linkAsked
            case .upgrade: .guestUpgrade
            case .signIn, .replaceGuest, .conflict, .otherSignInRequired, .deleted, .restore, .disabled, .full, .refuse:
                rule
            }
        return EvidenceRecord(recorded, of: evidence)
    }
}
