import Foundation
import ProviderKit
import Testing

@testable import Accounts

/// What the audit keeps of the evidence that created an account.
struct EvidenceRecordTests {
    private static let address = World.address

    private func evidence(_ isVerified: Bool = true, _ isAuthoritative: Bool = true) -> VerifiedIdentity {
        VerifiedIdentity(
            providerUid: "new",
            addresses: [
                AddressClaim(address: Self.address, isVerified: isVerified, isAuthoritative: isAuthoritative)
            ])
    }

    /// The records of new accounts, with the rules that created them, for addresses with no, one and several owners.
    private func records(
        of evidence: VerifiedIdentity, _ automatic: ApplicationPolicy.AutomaticLinking
    ) throws -> [(decided: LinkingRule, record: EvidenceRecord)] {
        let application = TestApplication { $0.automaticLinking = automatic }.application
        let other = try #require(EmailAddress("other@example.com"))
        let owners = [Self.address, .email(other)].map { AddressOwner(address: $0, uid: UUID(), status: .live) }
        var both = evidence
        both.addresses.append(AddressClaim(address: .email(other), isVerified: true, isAuthoritative: true))
        let policy = LinkingPolicy(mode: .open, automatic: automatic)
        let cases = [(evidence, []), (evidence, [owners[0]]), (both, []), (both, owners)]
        return cases.compactMap { evidence, owners in
            let verdict = decide(evidence, state: LinkingState(owners: owners), policy: policy)
            guard case .create = verdict.outcome else { return nil }
            return (verdict.rule, verdict.record(of: evidence, in: application))
        }
    }

    @Test func `a record has the rule, and the shape of each claim without its address`() throws {
        let record = EvidenceRecord(.addressUnproven, of: evidence(true, false))
        let details = JSONValue.object(record.details)
        #expect(
            details == [
                "rule": "address.unproven",
                "addresses": [["kind": "email", "verified": true, "authoritative": false]],
            ])
        #expect(EvidenceRecord(details) == record)
        #expect(EvidenceRecord(["provider": "email"]) == nil, "an event of an early version")
    }

    @Test(arguments: ApplicationPolicy.AutomaticLinking.allCases)
    func `a record does not show whether another account owned the address`(
        automatic: ApplicationPolicy.AutomaticLinking
    ) throws {
        let proven = try records(of: evidence(), automatic)
        let expected: LinkingRule = automatic == .never ? .addressNotJoined : .addressProven
        #expect(proven.allSatisfy { $0.record.rule == expected }, "\(proven)")
        let decided: Set<LinkingRule> =
            automatic == .never
            ? [.addressProven, .addressNotJoined, .addressOfSeveral] : [.addressProven, .addressOfSeveral]
        #expect(Set(proven.map(\.decided)) == decided, "the cases differ")
        let unproven = try records(of: evidence(true, false), automatic).map(\.record)
        #expect(unproven.count >= 2 && unproven[0] == unproven[1] && unproven[0].rule == .addressUnproven)
    }

    @Test func `a recycled number looks like a free one`() throws {
        let number = Address.phone(try #require(PhoneNumber("+41791234567")))
        let evidence = VerifiedIdentity(
            providerUid: number.value,
            addresses: [AddressClaim(address: number, isVerified: true, isAuthoritative: true)])
        let application = TestApplication().application
        let idle = AddressOwner(address: number, uid: UUID(), status: .live, isIdle: true)
        let policy = LinkingPolicy(mode: .open, automatic: .verified)
        let recycled = decide(evidence, state: LinkingState(owners: [idle]), policy: policy)
        let free = decide(evidence, state: LinkingState(), policy: policy)
        #expect(recycled.rule == .numberRecycled && free.rule == .addressProven)
        #expect(recycled.record(of: evidence, in: application) == free.record(of: evidence, in: application))
    }

    @Test func `an identity that joins records the rule that joined it`() throws {
        let application = TestApplication().application
        let owner = AddressOwner(address: Self.address, uid: UUID(), status: .live)
        let policy = LinkingPolicy(mode: .open, automatic: .verified)
        let joined = decide(evidence(), state: LinkingState(owners: [owner]), policy: policy)
        #expect(joined.record(of: evidence(), in: application).rule == .addressOwned)
        let guest = RequestingAccount(uid: UUID(), isGuest: true)
        let upgraded = decide(evidence(), state: LinkingState(requester: guest), policy: policy)
        #expect(upgraded.record(of: evidence(), in: application).rule == .guestUpgrade)
        let member = RequestingAccount(uid: UUID(), isGuest: false)
        let linked = decide(evidence(), state: LinkingState(requester: member), policy: policy)
        #expect(linked.record(of: evidence(), in: application).rule == .linkAsked)
    }
}
