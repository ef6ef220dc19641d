import Accounts
import Foundation
import ProviderKit

extension ContractRule {
    /// The rules of docs/api.md, of which the first that applies determines the verdict.
    ///
    /// The table was written from docs/api.md without regard to the tested function. It is slower, because it examines
    /// the accounts themselves.
    static let all = refusals + quarantines + idleNumbers + deadAccounts + knownIdentities + links + newcomers

    private static let refusals = [
        ContractRule("a provider that is off does nothing") {
            $0.situation.mode == .off
        } then: { _ in
            .refused(.providerOff)
        },
        ContractRule("a provider for linking only allows no sign-in") {
            $0.situation.mode == .linkOnly && !$0.hasSession
        } then: { _ in
            .refused(.providerLinkOnly)
        },
    ]

    private static let quarantines = [
        ContractRule("a quarantined identity signs in, links and merges nothing without another sign-in") {
            $0.isQuarantined && $0.a != nil && !$0.leads(to: .disabled)
        } then: {
            LinkingVerdict(
                .identityQuarantined, .otherSignInRequired(of: $0.a ?? UUID(), subject: $0.evidence.providerUid))
        },
        ContractRule("neither does an address that only quarantined identities of its account show") {
            $0.quarantinedOwner != nil && !$0.leads(to: .disabled)
        } then: {
            LinkingVerdict(
                .identityQuarantined,
                .otherSignInRequired(of: $0.quarantinedOwner ?? UUID(), subject: World.first(of: $0.proven)))
        },
    ]

    private static let idleNumbers = [
        ContractRule("an idle number goes along with another sign-in of that account") {
            $0.idleNumber != nil && !$0.isOnlyWay
        } then: { judged in
            judged.idleNumber.map {
                LinkingVerdict(.numberIdle, .otherSignInRequired(of: $0.uid, subject: $0.address.value))
            } ?? .refused(.numberIdle)
        },
        ContractRule("if it has none, the number moves from the old account to the guest who proves it") {
            $0.isOnlyWay && $0.mayGuestStay
        } then: {
            LinkingVerdict(.numberRecycled, .upgrade($0.recycled, guest: $0.principal))
        },
        ContractRule("if it has none, the number moves from the old account to the signed-in account that proves it") {
            $0.isOnlyWay && $0.hasSession
        } then: {
            LinkingVerdict(.numberRecycled, .link($0.recycled, to: $0.principal))
        },
        ContractRule("the new uid of a recycled number is a sign-up") {
            $0.isOnlyWay && $0.situation.mode == .existing
        } then: { _ in
            .refused(.providerNoSignUp)
        },
        ContractRule("if it has none, the proof opens a new uid and the number leaves the old account") {
            $0.isOnlyWay
        } then: {
            LinkingVerdict(.numberRecycled, .create($0.recycled))
        },
    ]

    private static let deadAccounts = [
        ContractRule("proof of an account in its grace period is answered with the deletion") {
            $0.leads(to: .deleted) && $0.isOpenToSignIn
        } then: { judged in
            LinkingVerdict(
                .accountDeleted,
                .deleted(uid: judged.destination ?? UUID(), purgeAfter: World.purge, offersRestore: true))
        },
        ContractRule("but without a restore token for an idle number, or if a sign-in would not reach the account") {
            $0.leads(to: .deleted)
        } then: { judged in
            LinkingVerdict(
                .accountDeleted,
                .deleted(uid: judged.destination ?? UUID(), purgeAfter: World.purge, offersRestore: false))
        },
        ContractRule("an admin disabled it") {
            $0.leads(to: .disabled)
        } then: { _ in
            LinkingVerdict(.accountDisabled, .disabled)
        },
    ]

    private static let knownIdentities = [
        ContractRule("owned by A, no session: sign in to A") {
            $0.a != nil && !$0.hasSession
        } then: {
            LinkingVerdict(.identityKnown, .signIn($0.known))
        },
        ContractRule("owned by A, S is A's: re-authentication") {
            $0.isOwnedByCaller
        } then: {
            LinkingVerdict(.identityOwn, .signIn($0.known))
        },
        ContractRule("owned by A, S is a guest's: `switch` signs in to A and ends the guest") {
            $0.a != nil && $0.mayGuestMove && $0.situation.onConflict == .switch
        } then: {
            LinkingVerdict(.guestSwitch, .replaceGuest(by: $0.known, isAbsorbed: false))
        },
        ContractRule("owned by A, S is a guest's: with `merge` the guest is absorbed by A") {
            $0.a != nil && $0.mayGuestMove && $0.situation.onConflict == .merge
        } then: {
            LinkingVerdict(.guestMerge, .replaceGuest(by: $0.known, isAbsorbed: true))
        },
        ContractRule("owned by A, S is another account's, or a guest's with `keep`: 409 with a ticket") {
            $0.a != nil && $0.isOpenToSignIn
        } then: {
            LinkingVerdict(.identityInUse, .conflict(with: $0.a ?? UUID(), offersMerge: true))
        },
        ContractRule("the same without a ticket where a sign-in would not reach A") {
            $0.a != nil
        } then: {
            LinkingVerdict(.identityInUse, .conflict(with: $0.a ?? UUID(), offersMerge: false))
        },
    ]

    private static let links = [
        ContractRule("a guest may move to the account that the proven address would sign in to") {
            $0.addressOfAnother != nil && $0.mayGuestMove && $0.mayJoinByAddress
        } then: {
            LinkingVerdict(
                $0.situation.onConflict == .merge ? .guestMerge : .guestSwitch,
                .replaceGuest(
                    by: $0.joining($0.addressOfAnother ?? UUID()), isAbsorbed: $0.situation.onConflict == .merge))
        },
        ContractRule("proving another account's address by code while signed in is IDENTITY_IN_USE with a ticket") {
            $0.addressOfAnother != nil && $0.isOpenToSignIn
        } then: {
            LinkingVerdict(.addressInUse, .conflict(with: $0.addressOfAnother ?? UUID(), offersMerge: true))
        },
        ContractRule("the same without a ticket where a sign-in would not join that account") {
            $0.addressOfAnother != nil
        } then: {
            LinkingVerdict(.addressInUse, .conflict(with: $0.addressOfAnother ?? UUID(), offersMerge: false))
        },
        ContractRule("unknown, link requested by a guest: the guest becomes permanent") {
            $0.mayGuestStay
        } then: {
            LinkingVerdict(.guestUpgrade, .upgrade($0.identity(of: $0.principal), guest: $0.principal))
        },
        ContractRule("unknown, link requested by S: I joins S's account, without the addresses of other accounts") {
            $0.hasSession
        } then: {
            LinkingVerdict(.linkAsked, .link($0.identity(of: $0.principal), to: $0.principal))
        },
    ]

    private static let newcomers = [
        ContractRule("exactly one live account owns the verified address: I joins it") {
            $0.onlyOwner != nil && $0.mayJoinByAddress
        } then: {
            LinkingVerdict(.addressOwned, .signIn($0.joining($0.onlyOwner ?? UUID())))
        },
        ContractRule("`existing`: no sign-up") {
            $0.situation.mode == .existing
        } then: { _ in
            .refused(.providerNoSignUp)
        },
        ContractRule("evidence whose addresses belong to several accounts joins none of them") {
            $0.owners.count > 1
        } then: {
            LinkingVerdict(.addressOfSeveral, .create($0.identity()))
        },
        ContractRule("`never` makes a new account") {
            $0.onlyOwner != nil
        } then: {
            LinkingVerdict(.addressNotJoined, .create($0.identity()))
        },
        ContractRule("no account owns the verified address: a new account becomes its owner") {
            !$0.proven.isEmpty
        } then: {
            LinkingVerdict(.addressProven, .create($0.identity()))
        },
        ContractRule("an unverified address claims nothing") {
            !$0.evidence.addresses.isEmpty
        } then: { _ in
            LinkingVerdict(.addressUnproven, .create(NewIdentity()))
        },
        ContractRule("otherwise: new account") { _ in
            true
        } then: { _ in
            LinkingVerdict(.identityNew, .create(NewIdentity()))
        },
    ]
}

extension ContractRule {
    /// The rules of `POST /auth/reauthenticate`: "the credential must be one of this account".
    static let reauthentication = [
        ContractRule("an identity of a provider that is off does not re-authenticate") {
            $0.situation.mode == .off
        } then: { _ in
            .refused(.providerOff)
        },
        ContractRule("neither does an identity of a provider for linking only") {
            $0.situation.mode == .linkOnly
        } then: { _ in
            .refused(.providerLinkOnly)
        },
        ContractRule("a quarantined identity of the account needs another sign-in too") {
            $0.isOwnedByCaller && $0.isQuarantined
        } then: {
            LinkingVerdict(
                .identityQuarantined, .otherSignInRequired(of: $0.principal, subject: $0.evidence.providerUid))
        },
        ContractRule("an identity of the account re-authenticates") {
            $0.isOwnedByCaller
        } then: {
            LinkingVerdict(.identityOwn, .signIn($0.known))
        },
        ContractRule("no other identity re-authenticates") { _ in
            true
        } then: { _ in
            .refused(.reauthenticationForeign)
        },
    ]
}

extension LinkingVerdict {
    fileprivate static func refused(_ rule: LinkingRule) -> LinkingVerdict { LinkingVerdict(rule, .refuse) }
}
