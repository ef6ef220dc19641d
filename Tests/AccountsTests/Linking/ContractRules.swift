import Accounts
import Foundation
import ProviderKit

/// A rule of docs/api.md, in its words.
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

    /// The first rule that applies.
    func expected(by rules: [ContractRule] = ContractRule.all) -> (rule: ContractRule, verdict: LinkingVerdict)? {
        rules.first { $0.applies(self) }.map { ($0, $0.verdict(self)) }
    }

    var hasSession: Bool { world.requester != nil }
    var isAskedByGuest: Bool { situation.session == .guest }
    /// It signs in there, which a provider for linking only does not do.
    var mayGuestMove: Bool {
        isAskedByGuest && situation.onConflict != .keep && situation.mode != .linkOnly
    }
    /// A live account needs a way to sign in: what can only be linked makes no guest permanent.
    var mayGuestStay: Bool { isAskedByGuest && situation.mode != .linkOnly }
    var mayJoinByAddress: Bool { situation.automatic == .verified }

    /// "Owned by A".
    var a: UUID? { world.accounts.first { $0.value.knows }?.key }
    var isOwnedByCaller: Bool { a != nil && a == world.requester }

    /// The identity that the evidence names was shut out by a password reset.
    var isQuarantined: Bool { situation.quarantine == .identity }
    /// The account that the proof reaches only through a quarantined address.
    var quarantinedOwner: UUID? {
        guard a == nil, let owner = destination, let account = world.accounts[owner] else { return nil }
        let owned = owned(by: owner)
        return !owned.isEmpty && owned.allSatisfy(account.quarantined.contains) ? owner : nil
    }

    /// "A verified address from a source trusted for it".
    var proven: [Address] { evidence.addresses.filter { $0.isVerified && $0.isAuthoritative }.map(\.address) }
    var free: [Address] { proven.filter { address in !world.accounts.values.contains { $0.owns.contains(address) } } }
    func owned(by uid: UUID?) -> [Address] {
        guard let uid else { return [] }
        return proven.filter { world.accounts[uid]?.owns.contains($0) == true }
    }
    var owners: Set<UUID> { Set(world.accounts.keys.filter { !owned(by: $0).isEmpty }) }
    var onlyOwner: UUID? { owners.count == 1 ? owners.first : nil }

    /// Another account's address, proven by code or mailed token while signed in.
    var addressOfAnother: UUID? {
        guard situation.provesAddress, a == nil, hasSession, let onlyOwner, onlyOwner != world.requester else {
            return nil
        }
        return onlyOwner
    }

    /// The account of the proof: the identity's, or the owner of the address.
    var destination: UUID? {
        if let a { return a }
        if hasSession { return addressOfAnother }
        return mayJoinByAddress ? onlyOwner : nil
    }
    func leads(to status: Situation.Status) -> Bool {
        destination.flatMap { world.accounts[$0] }?.status == status.accountStatus
    }

    /// Whether a sign-in by the same proof would reach the account that the proof leads to, live or in its grace period.
    var isOpenToSignIn: Bool {
        guard ![.off, .linkOnly].contains(situation.mode), !restsOnIdleNumber else { return false }
        return a != nil || mayJoinByAddress
    }

    /// The proof is a number that has been idle for too long, and nothing else.
    private var restsOnIdleNumber: Bool {
        guard let owner = destination, owner != world.requester, let account = world.accounts[owner] else {
            return false
        }
        return !owned(by: owner).isEmpty && restsOnAddress(of: owner)
            && owned(by: owner).allSatisfy(account.idle.contains)
    }

    /// The number that alone proves the identity, if it was idle for too long.
    ///
    /// Until erasure, an account that has no other way in keeps its number.
    var idleNumber: AddressOwner? {
        guard let owner = onlyOwner, owner != world.requester, let account = world.accounts[owner],
            restsOnAddress(of: owner), owned(by: owner).allSatisfy(account.idle.contains),
            let number = owned(by: owner).first, account.status == .live || account.hasOtherWay
        else { return nil }
        return AddressOwner(
            address: number, uid: owner, status: account.status, isIdle: true, hasOtherWay: account.hasOtherWay)
    }
    /// A code proves only the number; other evidence reaches the owner only by joining.
    private func restsOnAddress(of owner: UUID) -> Bool {
        situation.provesAddress ? a == nil || a == owner : !hasSession && a == nil && mayJoinByAddress
    }
    var isOnlyWay: Bool { idleNumber?.hasOtherWay == false }

    // Effects of verdicts.

    var known: AccountMatch { .known(KnownIdentity(id: World.identity, uid: a ?? UUID(), status: .live)) }
    var principal: UUID { world.requester ?? UUID() }
    /// Owns the free addresses, and shows those of the account.
    func identity(of uid: UUID? = nil) -> NewIdentity {
        let shown = Set(free + owned(by: uid))
        return NewIdentity(claiming: free, showing: proven.filter(shown.contains))
    }
    /// The number leaves the account that had it.
    var recycled: NewIdentity {
        let claimed = free + (idleNumber.map { [$0.address] } ?? [])
        return NewIdentity(claiming: proven.filter(claimed.contains), displacing: idleNumber)
    }
    func joining(_ uid: UUID) -> AccountMatch { .joining(identity(of: uid), uid: uid) }
}
