import Foundation
import ProviderKit

@testable import Accounts

/// A few accounts, and the addresses that each has proven.
struct World {
    struct Account {
        var status = AccountStatus.live
        var isGuest = false
        /// Whether the account owns the identity in the evidence.
        var knows = false
        var owns: [Address] = []
        /// Addresses that the account shows without having proven them.
        var shows: [Address] = []
        var idle: Set<Address> = []
        var hasOtherWay = false
        /// Addresses that only quarantined identities show.
        var quarantined: Set<Address> = []
    }

    static let (knower, asker, owner, stranger) = (UUID(), UUID(), UUID(), UUID())
    static let identity = UUID()
    static let subject = "subject"
    static let purge = Date(timeIntervalSince1970: 2_000_000_000)
    static let address = Address(email: "ada@example.com")
    static let secondAddress = Address(email: "ada@example.org")
    static let number = Address(phone: "+33612345678")

    var accounts: [UUID: Account] = [:]
    var requester: UUID?
    var isIdentityQuarantined = false

    static func first(of addresses: [Address]) -> String { addresses.first?.value ?? "" }

    mutating func quarantine(_ address: Address) {
        for (uid, account) in accounts where account.owns.contains(address) {
            accounts[uid]?.quarantined.insert(address)
        }
    }

    mutating func add(_ asker: UUID, isGuest: Bool = false) {
        accounts[asker] = Account(isGuest: isGuest)
        requester = asker
    }

    mutating func own(_ address: Address?, _ uid: UUID?, _ status: Situation.Status, _ use: Situation.Use) {
        guard let address, let uid else { return }
        var account = accounts[uid] ?? Account()
        account.status = status.accountStatus
        account.owns.append(address)
        if use != .recent { account.idle.insert(address) }
        account.hasOtherWay = use == .idle
        accounts[uid] = account
    }

    /// Returns the rows that the database would have for the evidence.
    func state(about evidence: VerifiedIdentity) -> LinkingState {
        let knower = accounts.first { $0.value.knows }
        let owners = evidence.addresses.compactMap { claim in
            accounts.first { $0.value.owns.contains(claim.address) }.map { uid, account in
                var owner = AddressOwner(
                    address: claim.address, uid: uid, status: account.status,
                    isIdle: account.idle.contains(claim.address), hasOtherWay: account.hasOtherWay)
                owner.needsOtherSignIn = account.quarantined.contains(claim.address)
                return owner
            }
        }
        let identity = knower.map { uid, account in
            var identity = KnownIdentity(
                id: Self.identity, uid: uid, status: account.status, isQuarantined: isIdentityQuarantined)
            identity.needsOtherSignIn = isIdentityQuarantined
            return identity
        }
        return LinkingState(
            identity: identity,
            owners: owners,
            requester: requester.map { RequestingAccount(uid: $0, isGuest: accounts[$0]?.isGuest == true) })
    }
}

extension Address {
    fileprivate init(email text: String) {
        guard let address = EmailAddress(text) else { preconditionFailure("no address: \(text)") }
        self = .email(address)
    }

    fileprivate init(phone text: String) {
        guard let number = PhoneNumber(text) else { preconditionFailure("no number: \(text)") }
        self = .phone(number)
    }
}
