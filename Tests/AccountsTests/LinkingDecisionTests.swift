import Accounts
import Foundation
import ProviderKit
import Testing

/// Every combination of what bears on a sign-in without a session, against a slower statement of the rules.
@Suite struct LinkingDecisionTests {
    enum Known: CaseIterable { case unknown, live, disabled, deleted }
    enum Address: CaseIterable { case none, unverified, untrusted, proven }
    enum Owner: CaseIterable { case none, live, disabled, deleted }

    static let someone = UUID()
    static let purge = Date(timeIntervalSince1970: 2_000_000_000)
    static let address = EmailAddress("ada@example.com")

    struct Case: CustomTestStringConvertible {
        let known: Known
        let address: Address
        let owner: Owner
        let mode: ProviderMode
        let automatic: ApplicationPolicy.AutomaticLinking

        var testDescription: String { "\(known) \(address) \(owner) \(mode) \(automatic)" }
    }

    static var cases: [Case] {
        Known.allCases.flatMap { known in
            Address.allCases.flatMap { address in
                Owner.allCases.flatMap { owner in
                    ProviderMode.allCases.flatMap { mode in
                        [.verified, .never].map {
                            Case(known: known, address: address, owner: owner, mode: mode, automatic: $0)
                        }
                    }
                }
            }
        }
    }

    @Test func everyCombination() throws {
        let address = try #require(Self.address)
        for test in Self.cases {
            let verdict = decide(
                evidence(test, address), state: state(test, address),
                policy: LinkingPolicy(mode: test.mode, automatic: test.automatic))
            #expect(verdict == expected(test, address), "\(test.testDescription)")
        }
    }

    /// The rules in the words of the contract, one after the other, the first that applies.
    private func expected(_ test: Case, _ address: EmailAddress) -> LinkingVerdict {
        if test.mode == .off { return refusal("provider.off", decided: test, address) }
        if test.mode == .linkOnly { return refusal("provider.link-only", decided: test, address) }
        switch test.known {
        case .live: return .signIn(KnownIdentity(id: Self.someone, uid: Self.someone, status: .live))
        case .disabled: return .disabled
        case .deleted: return .deleted(uid: Self.someone, purgeAfter: Self.purge)
        case .unknown: break
        }
        let isProven = test.address == .proven
        let mayJoin = isProven && test.automatic == .verified
        if mayJoin && test.owner == .live { return .join(uid: Self.someone, claiming: []) }
        if mayJoin && test.owner == .disabled { return .disabled }
        if mayJoin && test.owner == .deleted { return .deleted(uid: Self.someone, purgeAfter: Self.purge) }
        if test.mode == .existing { return refusal("provider.no-sign-up", decided: test, address) }
        return .create(claiming: isProven && test.owner == .none ? [.email(address)] : [])
    }

    /// The rule's id is what must match; its words are the rules' own.
    private func refusal(_ rule: String, decided test: Case, _ address: EmailAddress) -> LinkingVerdict {
        let verdict = decide(
            evidence(test, address), state: state(test, address),
            policy: LinkingPolicy(mode: test.mode, automatic: test.automatic))
        guard case .refuse(let refusal) = verdict, refusal.rule == rule, !refusal.remedies.isEmpty else {
            return .disabled
        }
        return verdict
    }

    private func evidence(_ test: Case, _ address: EmailAddress) -> VerifiedIdentity {
        let claims: [AddressClaim] =
            switch test.address {
            case .none: []
            case .unverified: [AddressClaim(address: .email(address), isVerified: false, isAuthoritative: true)]
            case .untrusted: [AddressClaim(address: .email(address), isVerified: true, isAuthoritative: false)]
            case .proven: [AddressClaim(address: .email(address), isVerified: true, isAuthoritative: true)]
            }
        return VerifiedIdentity(providerUid: "subject", addresses: claims)
    }

    private func state(_ test: Case, _ address: EmailAddress) -> LinkingState {
        let identity: KnownIdentity? =
            switch test.known {
            case .unknown: nil
            case .live: KnownIdentity(id: Self.someone, uid: Self.someone, status: .live)
            case .disabled: KnownIdentity(id: Self.someone, uid: Self.someone, status: .disabled)
            case .deleted: KnownIdentity(id: Self.someone, uid: Self.someone, status: .deleted(purgeAfter: Self.purge))
            }
        let status: AccountStatus? =
            switch test.owner {
            case .none: nil
            case .live: .live
            case .disabled: .disabled
            case .deleted: .deleted(purgeAfter: Self.purge)
            }
        let owners = status.map { [AddressOwner(address: .email(address), uid: Self.someone, status: $0)] } ?? []
        return LinkingState(identity: identity, owners: owners)
    }

    @Test func addressesOfSeveralAccountsJoinNone() throws {
        let (one, two) = (try #require(EmailAddress("a@example.com")), try #require(EmailAddress("b@example.com")))
        let evidence = VerifiedIdentity(
            providerUid: "subject",
            addresses: [one, two].map { AddressClaim(address: .email($0), isVerified: true, isAuthoritative: true) })
        let state = LinkingState(owners: [
            AddressOwner(address: .email(one), uid: UUID(), status: .live),
            AddressOwner(address: .email(two), uid: UUID(), status: .live),
        ])
        #expect(
            decide(evidence, state: state, policy: LinkingPolicy(mode: .open, automatic: .verified))
                == .create(claiming: []))
    }
}
