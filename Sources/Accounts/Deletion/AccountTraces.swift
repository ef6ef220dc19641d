internal import Foundation
internal import ProviderKit

/// The values that identify an account in rows that do not refer to it by uid.
package struct AccountTraces: Sendable {
    package struct Subject: Sendable, Hashable {
        package let provider, providerUid: String

        package init(provider: String, providerUid: String) {
            (self.provider, self.providerUid) = (provider, providerUid)
        }
    }

    package let subjects: [Subject]
    /// The addresses that the account owns, and the addresses of its identities that have no owner.
    package let addresses: [String]

    package init(subjects: [Subject], addresses: [String]) { (self.subjects, self.addresses) = (subjects, addresses) }
}

/// The traces of an account, with the pseudonyms under which its attempts and requests are counted.
package struct ErasableTraces: Sendable {
    package let subjects: [AccountTraces.Subject]
    package let addresses: [String]
    /// The keys of the counters of failed passwords and PINs.
    package let attempts: [[UInt8]]
    /// The keys of the rate limits of the addresses.
    package let limited: [[UInt8]]
}

extension OpaqueTokens {
    func erasable(_ traces: AccountTraces, of family: [UUID]) -> ErasableTraces {
        ErasableTraces(
            subjects: traces.subjects, addresses: traces.addresses,
            attempts: traces.subjects.map { attemptKey(provider: $0.provider, providerUid: $0.providerUid).bytes }
                + family.map { pinAttempts(of: $0).bytes },
            limited: traces.addresses.map { limitKey(of: $0) })
    }
}
