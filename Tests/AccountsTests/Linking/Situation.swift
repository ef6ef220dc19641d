import Foundation
import ProviderKit

@testable import Accounts

/// One combination of the inputs of a linking decision.
struct Situation: CustomStringConvertible {
    enum Session: CaseIterable { case none, own, other, guest }
    enum Claim: CaseIterable { case none, unverified, verified, firstOfTwoVerified }
    enum Status: CaseIterable { case live, disabled, deleted }
    /// Whether the owner's number was used recently and, if not, whether it is the only way to sign in to the account.
    enum Use: CaseIterable { case recent, idle, idleAndOnlyWay }
    /// What a password reset quarantined: the identity in the evidence, or the owner's address.
    enum Quarantine: CaseIterable { case none, identity, address }
    /// Who owns the addresses of the evidence.
    enum Owner: CaseIterable {
        case nobody
        /// Another account shows the address without having verified it.
        case unverified
        case one
        /// One of two addresses belongs to an account; the other one is free.
        case oneOfTwo
        case several
        /// The caller's account.
        case requester
        /// One of two addresses belongs to the caller's account, the other one to another account.
        case askingAndAnother
        /// The account that owns the identity.
        case itself
    }

    var isKnown = false
    var session = Session.none
    var claim = Claim.none
    var isTrusted = true
    var owner = Owner.nobody
    var status = Status.live
    var ownerStatus = Status.live
    var use = Use.recent
    var quarantine = Quarantine.none
    var mode = ProviderMode.open
    var automatic = ApplicationPolicy.AutomaticLinking.verified
    var onConflict = ConflictChoice.keep
    var provesAddress = false

    var description: String {
        """
        identity \(isKnown ? "of a \(status) account" : "unknown"), session \(session), address \(claim) \
        \(isTrusted ? "trusted" : "not trusted"), owner \(owner) \(ownerStatus) \(use), quarantined: \(quarantine), mode \(mode), \
        automatic \(automatic), onConflict \(onConflict), proves an address: \(provesAddress)
        """
    }

    /// Whether the combination is possible and not equivalent to another one.
    private var isPossible: Bool {
        let hasOwner = ![.nobody, .unverified].contains(owner)
        let hasOther = [.one, .oneOfTwo, .several, .askingAndAnother].contains(owner)
        return [
            isKnown || status == .live,
            // The caller's account is live. If the session is `own`, that account owns the identity.
            session != .own || (isKnown && status == .live),
            session != .none || onConflict == .keep,
            // A guest owns nothing.
            ![.requester, .askingAndAnother].contains(owner) || [.own, .other].contains(session),
            owner != .itself || (isKnown && session != .own),
            hasOther || ownerStatus == .live,
            hasOwner || use == .recent,
            quarantine != .identity || isKnown,
            // A quarantined address matters only if there is another way to sign in to the account.
            quarantine != .address || use != .idleAndOnlyWay,
            quarantine != .address || [.one, .oneOfTwo, .several, .itself].contains(owner),
            claim != .none || (owner == .nobody && isTrusted && !provesAddress),
            // A code proves the one address that it was sent to.
            !provesAddress || (claim == .verified && isTrusted && addresses.count == 1),
        ].allSatisfy(\.self)
    }

    static var all: [Situation] {
        let situations = [Situation()]
            .varied(\.isKnown, [false, true]).varied(\.session, Session.allCases).varied(\.status, Status.allCases)
            .varied(\.onConflict, ConflictChoice.allCases).varied(\.claim, Claim.allCases)
            .varied(\.isTrusted, [true, false]).varied(\.owner, Owner.allCases).varied(\.use, Use.allCases)
            .varied(\.ownerStatus, Status.allCases).varied(\.quarantine, Quarantine.allCases)
            .varied(\.provesAddress, [false, true])
        return situations.filter(\.isPossible)
            .varied(\.mode, ProviderMode.allCases).varied(\.automatic, [.verified, .never])
    }

    var evidence: VerifiedIdentity {
        VerifiedIdentity(
            // The uid of an identity that proves an address is the address itself.
            providerUid: provesAddress ? addresses[0].value : World.subject,
            addresses: addresses.enumerated().map { index, address in
                AddressClaim(
                    address: address, isVerified: claim == .verified || (claim == .firstOfTwoVerified && index == 0),
                    isAuthoritative: isTrusted)
            })
    }

    var policy: LinkingPolicy {
        LinkingPolicy(mode: mode, automatic: automatic, provesAddress: provesAddress, onConflict: onConflict)
    }

    /// The addresses in the evidence.
    ///
    /// Only a phone number can be idle.
    private var addresses: [Address] {
        guard claim != .none else { return [] }
        let first = use == .recent ? World.address : World.number
        let isPair = [.oneOfTwo, .several, .askingAndAnother].contains(owner) || claim == .firstOfTwoVerified
        return isPair ? [first, World.secondAddress] : [first]
    }

    /// The accounts that this combination describes.
    var world: World {
        var world = World()
        if isKnown { world.accounts[World.knower] = World.Account(status: status.accountStatus, knows: true) }
        switch session {
        case .none: break
        case .own: world.requester = World.knower
        case .other: world.add(World.asker)
        case .guest: world.add(World.asker, isGuest: true)
        }
        let (first, second) = (addresses.first, addresses.last)
        switch owner {
        case .nobody: break
        case .unverified:
            world.accounts[World.stranger] = World.Account(shows: addresses)
        case .one, .oneOfTwo:
            world.own(first, World.owner, ownerStatus, use)
        case .several:
            world.own(first, World.owner, ownerStatus, use)
            world.own(second, World.stranger, .live, .recent)
        case .requester:
            world.own(first, world.requester, .live, use)
        case .askingAndAnother:
            world.own(first, world.requester, .live, use)
            world.own(second, World.owner, ownerStatus, .recent)
        case .itself:
            world.own(first, World.knower, status, use)
        }
        world.isIdentityQuarantined = quarantine == .identity
        if quarantine == .address, let first { world.quarantine(first) }
        return world
    }
}

extension Situation.Status {
    var accountStatus: AccountStatus {
        switch self {
        case .live: .live
        case .disabled: .disabled(isDeleted: false)
        case .deleted: .deleted(purgeAfter: World.purge)
        }
    }
}

extension [Situation] {
    /// Returns a copy of each situation for each value.
    fileprivate func varied<Value>(_ part: WritableKeyPath<Situation, Value>, _ values: [Value]) -> [Situation] {
        flatMap { situation in
            values.map { value in
                var varied = situation
                varied[keyPath: part] = value
                return varied
            }
        }
    }
}
