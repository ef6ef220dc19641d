import Accounts
import Foundation
import ProviderKit

/// A linking rule, as docs/api.md states it.
struct ContractRule: Sendable {
    let words: String
    let applies: @Sendable (Judgement) -> Bool
    let verdict: @Sendable (Judgement) -> LinkingVerdict

    init(
        _ words: String, when applies: @Sendable @escaping (Judgement) -> Bool,
        then verdict: @Sendable @escaping (Judgement) -> LinkingVerdict
    ) {
        self.words = words
        self.applies = applies
        self.verdict = verdict
    }
}

/// The terms of the rules in docs/api.md, computed for each account.
struct Judgement {
    let situation: Situation
    let evidence: VerifiedIdentity
    let world: World

    init(_ situation: Situation) {
        self.situation = situation
        evidence = situation.evidence
        world = situation.world
    }

    /// Returns the first rule that applies, and its verdict.
    func expected(by rules: [ContractRule] = ContractRule.all) -> (rule: ContractRule, verdict: LinkingVerdict)? {
        rules.first { $0.applies(self) }.map { ($0, $0.verdict(self)) }
    }

    var hasSession: Bool { world.requester != nil }
    var isAskedByGuest: Bool { situation.session == .guest }
    /// Whether a guest may switch to the account that the proof leads to.
    ///
    /// The switch is a sign-in, which a provider in the mode `linkOnly` does not allow.
    var mayGuestMove: Bool {
        isAskedByGuest && situation.onConflict != .keep && situation.mode != .linkOnly
    }
    /// Whether the proof may make the guest's account permanent.
    ///
    /// A permanent account needs an identity that can sign in, so one of a `linkOnly` provider is not enough.
    var mayGuestStay: Bool { isAskedByGuest && situation.mode != .linkOnly }
    var mayJoinByAddress: Bool { situation.automatic == .verified }

    /// The account A in "owned by A": the owner of the identity in the evidence.
    var a: UUID? { world.accounts.first { $0.value.knows }?.key }
    var isOwnedByCaller: Bool { a != nil && a == world.requester }

    /// Whether a password reset quarantined the identity in the evidence.
    var isQuarantined: Bool { situation.quarantine == .identity }
    /// The account that the proof reaches only through quarantined addresses.
    var quarantinedOwner: UUID? {
        guard a == nil, let owner = destination, let account = world.accounts[owner] else { return nil }
        let owned = owned(by: owner)
        return !owned.isEmpty && owned.allSatisfy(account.quarantined.contains) ? owner : nil
    }

    /// The addresses that the rules call "a verified address from a source trusted for it".
    var proven: [Address] { evidence.addresses.filter { $0.isVerified && $0.isAuthoritative }.map(\.address) }
    var free: [Address] { proven.filter { address in !world.accounts.values.contains { $0.owns.contains(address) } } }
    func owned(by uid: UUID?) -> [Address] {
        guard let uid else { return [] }
        return proven.filter { world.accounts[uid]?.owns.contains($0) == true }
    }
    var owners: Set<UUID> { Set(world.accounts.keys.filter { !owned(by: $0).isEmpty }) }
    var onlyOwner: UUID? { owners.count == 1 ? owners.first : nil }

    /// The other account that owns the address which a signed-in caller proved by a code or a mailed token.
    var addressOfAnother: UUID? {
        guard situation.provesAddress, a == nil, hasSession, let onlyOwner, onlyOwner != world.requester else {
            return nil
        }
        return onlyOwner
    }

    /// The account that the proof leads to: the owner of the identity or else of the address.
    var destination: UUID? {
        if let a { return a }
        if hasSession { return addressOfAnother }
        return mayJoinByAddress ? onlyOwner : nil
    }
    func leads(to status: Situation.Status) -> Bool {
        destination.flatMap { world.accounts[$0] }?.status == status.accountStatus
    }

    /// Whether a sign-in by the same proof would reach the account that the proof leads to, live or in its grace
    /// period.
    var isOpenToSignIn: Bool {
        guard ![.off, .linkOnly].contains(situation.mode), !restsOnIdleNumber else { return false }
        return a != nil || mayJoinByAddress
    }

    /// Whether the proof relies only on a phone number that has been idle for too long.
    private var restsOnIdleNumber: Bool {
        guard let owner = destination, owner != world.requester, let account = world.accounts[owner] else {
            return false
        }
        return !owned(by: owner).isEmpty && restsOnAddress(of: owner)
            && owned(by: owner).allSatisfy(account.idle.contains)
    }

    /// The number that the proof relies on, if it has been idle for too long.
    ///
    /// A disabled or deleted account without another way to sign in keeps its number until it is erased.
    var idleNumber: AddressOwner? {
        guard let owner = onlyOwner, owner != world.requester, let account = world.accounts[owner],
            restsOnAddress(of: owner), owned(by: owner).allSatisfy(account.idle.contains),
            let number = owned(by: owner).first, account.status == .live || account.hasOtherWay
        else { return nil }
        return AddressOwner(
            address: number, uid: owner, status: account.status, isIdle: true, hasOtherWay: account.hasOtherWay)
    }
    /// Whether the proof reaches the owner only through the address.
    ///
    /// A code proves just the address. Other evidence reaches the owner of an address only by joining that account.
    private func restsOnAddress(of owner: UUID) -> Bool {
        situation.provesAddress ? a == nil || a == owner : !hasSession && a == nil && mayJoinByAddress
    }
    var isOnlyWay: Bool { idleNumber?.hasOtherWay == false }

    // Effects of verdicts.

    var known: AccountMatch { .known(KnownIdentity(id: World.identity, uid: a ?? UUID(), status: .live)) }
    var principal: UUID { world.requester ?? UUID() }
    /// Returns an identity that becomes the owner of the free addresses and also shows those of the account.
    func identity(of uid: UUID? = nil) -> NewIdentity {
        let shown = Set(free + owned(by: uid))
        return NewIdentity(claiming: free, showing: proven.filter(shown.contains))
    }
    /// An identity that takes the idle number over from its old account.
    var recycled: NewIdentity {
        let claimed = free + (idleNumber.map { [$0.address] } ?? [])
        return NewIdentity(claiming: proven.filter(claimed.contains), displacing: idleNumber)
    }
    func joining(_ uid: UUID) -> AccountMatch { .joining(identity(of: uid), uid: uid) }
}
