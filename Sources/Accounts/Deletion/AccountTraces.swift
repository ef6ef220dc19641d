internal import ProviderKit

/// By what an account is known where no row refers to it.
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
    /// Those that it owns, and those that it only shows and nobody else owns.
    package let addresses: [String]

    package init(subjects: [Subject], addresses: [String]) {
        self.subjects = subjects
        self.addresses = addresses
    }
}

/// The same with the pseudonyms that counters go by.
package struct ErasableTraces: Sendable {
    package let subjects: [AccountTraces.Subject]
    package let addresses: [String]
    /// Of its failed passwords.
    package let attempts: [[UInt8]]
    /// Of its rate limits.
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
