internal import ProviderKit

/// What identifies an account in rows without a reference to it.
package struct AccountTraces: Sendable {
    package struct Subject: Sendable, Hashable {
        package let provider: String
        package let providerUid: String

        package init(provider: String, providerUid: String) {
            self.provider = provider
            self.providerUid = providerUid
        }
    }

    package let subjects: [Subject]
    /// Addresses that it owns, and those that it shows and that have no owner.
    package let addresses: [String]

    package init(subjects: [Subject], addresses: [String]) {
        self.subjects = subjects
        self.addresses = addresses
    }
}

/// The traces of an account, with the pseudonyms that counters use.
package struct ErasableTraces: Sendable {
    package let subjects: [AccountTraces.Subject]
    package let addresses: [String]
    /// Pseudonyms of failed passwords.
    package let attempts: [[UInt8]]
    /// Pseudonyms of rate limits.
    package let limited: [[UInt8]]
}

extension OpaqueTokens {
    func erasable(_ traces: AccountTraces) -> ErasableTraces {
        ErasableTraces(
            subjects: traces.subjects, addresses: traces.addresses,
            attempts: traces.subjects.map { attemptKey(provider: $0.provider, providerUid: $0.providerUid).bytes },
            limited: traces.addresses.map { limitKey(of: $0) })
    }
}
