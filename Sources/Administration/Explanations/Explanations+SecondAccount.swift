package import Accounts
package import Foundation
package import ProviderKit

/// Why an account exists beside another one, then and now.
package struct SecondAccount: Sendable {
    package let reason: SecondAccountReason
    /// What the sign-in led to when the account was created.
    package let verdict: String
    package let rule: LinkingRule?
    package let then: Creation?
    /// `nil` if the identity was removed or its provider is no longer configured.
    package let now: Verdict?

    /// What the audit recorded of the creation.
    package struct Creation: Sendable {
        package let at: Date
        package let provider: String?
        package let sentence: String
        package let record: EvidenceRecord?
    }

    /// What the rules decide today if the account did not exist.
    package struct Verdict: Sendable {
        package let explanation: Explanation
        package let addresses: [Claim]
    }

    /// The shape of a claim about an address, and the account that owns the address today.
    package struct Claim: Sendable {
        package let kind: Address.Kind
        package let isVerified, isAuthoritative: Bool
        package let owner: UUID?
    }
}

extension Explanations {
    /// Explains why the account exists beside `other`, or beside any account if `other` is `nil`.
    ///
    /// Aliases lead to the accounts that absorbed them.
    /// - Throws: `AdministrationError.accountNotFound` for either account.
    package func secondAccount(
        _ uid: UUID, besides other: UUID?, in application: Application
    ) async throws -> SecondAccount {
        try await store.transaction(within: .administration) { store in
            try await SecondAccountInquiry(store: store, application: application).answer(uid, besides: other)
        }
    }
}

/// Compares the creation of an account with what the linking rules decide today.
private struct SecondAccountInquiry {
    let store: any ExplanationStore & AliasStore & LinkingFacts.Store
    let application: Application

    func answer(_ uid: UUID, besides other: UUID?) async throws -> SecondAccount {
        let uid = try await store.resolve(uid, application: application.id)
        let origin = try await origin(of: uid)
        let first = origin.decisive
        let record = EvidenceRecord(first?.details ?? origin.creation ?? .null)
        let evidence = first.map { $0.identity.evidence(recordedAs: record) }
        let now = try await verdict(on: evidence, of: first?.identity, uid)
        var facts = SecondAccountReason.Facts(
            uid: uid, createdAt: first?.identity.createdAt ?? origin.createdAt, record: record, evidence: evidence,
            automatic: application.policy.automaticLinking)
        if let now, let evidence {
            let proven = evidence.proven
            facts.owners = Set(now.state.owners.filter { proven.contains($0.address) }.map(\.uid))
        }
        if let other { try await add(other, to: &facts) }
        let reason = SecondAccountReason(facts)
        return SecondAccount(
            reason: reason, verdict: reason.verdict(on: uid), rule: reason.rule ?? record?.rule ?? now?.verdict.rule,
            then: origin.creation(first),
            now: now.map { explanation in
                SecondAccount.Verdict(
                    explanation: explanation,
                    addresses: evidence?.claims(ownedBy: explanation.state.owners, or: first?.identity, uid) ?? [])
            })
    }

    private func origin(of uid: UUID) async throws -> AccountOrigin {
        guard let origin = try await store.origin(of: uid, application: application.id) else {
            throw AdministrationError.accountNotFound
        }
        return origin
    }

    private func verdict(
        on evidence: VerifiedIdentity?, of identity: Identity?, _ uid: UUID
    ) async throws -> Explanation? {
        guard let evidence, let identity, let provider = application.providers[identity.provider] else { return nil }
        return try await LinkingExplainer(store: store)
            .explain(evidence, of: provider, withoutAccount: uid, in: application)
    }

    private func add(_ other: UUID, to facts: inout SecondAccountReason.Facts) async throws {
        let other = try await store.resolve(other, application: application.id)
        let origin = try await origin(of: other)
        let identities = try await store.identities(of: other, application: application.id)
        let owned = try await store.contact(of: other, application: application.id).addresses
        facts.other = other
        facts.otherCreatedAt = origin.decisive?.identity.createdAt ?? origin.createdAt
        facts.otherAddresses = Set(owned + identities.flatMap(\.shown))
    }
}

extension AccountOrigin {
    /// The identity that created the account, or that made a guest's account permanent.
    fileprivate var decisive: FirstIdentity? {
        guard let first, first.isCreation || EvidenceRecord(first.details)?.rule == .guestUpgrade else { return nil }
        return first
    }

    fileprivate func creation(_ first: FirstIdentity?) -> SecondAccount.Creation? {
        guard let details = first?.details ?? creation else { return nil }
        let isCreation = first?.isCreation ?? true
        return SecondAccount.Creation(
            at: first?.identity.createdAt ?? createdAt, provider: details["provider"].string,
            sentence: EventSentences.sentence(for: isCreation ? "account.created" : "identity.linked", details),
            record: EvidenceRecord(details))
    }
}

extension SecondAccountReason {
    fileprivate func verdict(on uid: UUID) -> String {
        switch self {
        case .oneAccount: "is one account"
        case .linkedByGuest: LinkingOutcome.upgrade(NewIdentity(), guest: uid).words
        default: LinkingOutcome.create(NewIdentity()).words
        }
    }
}

extension Identity {
    fileprivate var shown: [Address] { [email.map { .email($0) }, phone.map { .phone($0) }].compactMap { $0 } }

    /// The evidence that added the identity, as far as its row and the record still show it.
    fileprivate func evidence(recordedAs record: EvidenceRecord?) -> VerifiedIdentity {
        let claims = shown.map { address in
            let isOwned = address.kind == .email ? emailVerified : phoneVerified
            let recorded = record?.addresses.filter { $0.kind == address.kind } ?? []
            // A verified address of the identity is one that the evidence proved.
            let claim = recorded.first { $0.isProven == isOwned } ?? recorded.first
            return AddressClaim(
                address: address, isVerified: claim?.isVerified ?? isOwned,
                isAuthoritative: claim?.isAuthoritative ?? isOwned)
        }
        return VerifiedIdentity(providerUid: providerUid, isGuest: isGuest, addresses: claims)
    }
}

extension VerifiedIdentity {
    /// The shape of the claims, without the addresses.
    fileprivate func claims(
        ownedBy owners: [AddressOwner], or identity: Identity?, _ uid: UUID
    ) -> [SecondAccount.Claim] {
        addresses.map { claim in
            let isOwn = claim.address.kind == .email ? identity?.emailVerified : identity?.phoneVerified
            let owner = isOwn == true ? uid : owners.first { $0.address == claim.address }?.uid
            return SecondAccount.Claim(
                kind: claim.address.kind, isVerified: claim.isVerified, isAuthoritative: claim.isAuthoritative,
                owner: owner)
        }
    }
}
