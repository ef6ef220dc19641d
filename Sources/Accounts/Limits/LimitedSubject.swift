package import Foundation
package import ProviderKit

/// The person or client whose locks an administrator looks at.
package enum LimitedSubject: Sendable {
    case address(Address)
    /// A client by its IP address.
    case client(String)
}

/// The keys of all counters that can lock a subject.
package struct LockKeys: Sendable {
    /// Counters of wrong passwords and PINs.
    package struct Attempts: Sendable {
        /// The name of the provider; `nil` for the PIN.
        package let provider: String?
        package let key: AttemptKey
    }

    package let attempts: [Attempts]
    /// The counter of wrong codes; `nil` for a client.
    package let guesses: [UInt8]?
    package let rates: [RateKey]
}

extension OpaqueTokens {
    /// The keys of the counters that can lock the subject in an application.
    ///
    /// `owner` is the account that owns the address, and `routes` are the routes whose calls the limit `general` counts.
    package func lockKeys(
        of subject: LimitedSubject, owner: UUID?, routes: [String], by limits: any LiftableLimits,
        in application: Application
    ) -> LockKeys {
        switch subject {
        case .address(let address):
            var attempts: [LockKeys.Attempts] = application.providers.all.compactMap { configured in
                guard let provider = configured.provider as? any PasswordProvider, address.kind == .email,
                    let subject = try? provider.subject(typed: address.value)
                else { return nil }
                let key = attemptKey(provider: configured.name, subject: subject)
                return LockKeys.Attempts(provider: configured.name, key: key)
            }
            if let owner { attempts.append(LockKeys.Attempts(provider: nil, key: pinAttempts(of: owner))) }
            let target = RateSubject(target: address.value)
            return LockKeys(
                attempts: attempts, guesses: Digest.sha256(of: "\(address.kind.rawValue):\(address.value)"),
                rates: limits.keys(of: RateLimit.ofTargets.map { ($0, target) }, in: application))
        case .client(let address):
            let client = Client(device: nil, address: address)
            let named = RateLimit.ofClients.map { ($0, RateSubject(client)) }
            let general = routes.map { (RateLimit.general, RateSubject(client, route: $0)) }
            return LockKeys(attempts: [], guesses: nil, rates: limits.keys(of: named + general, in: application))
        }
    }
}

extension RateLimit {
    /// The limits of messages to one address or number.
    fileprivate static let ofTargets: [Self] = [.otpSend, .forgotPasswordTarget, .registerTarget]
    /// The limits of administrators and their keys, which are no clients.
    private static let ofAdministrators: [Self] = [.adminKey, .adminSearch, .adminReveal, .adminExport, .adminLift]
    /// The limits of clients, besides `general`, which is counted by route.
    fileprivate static let ofClients = allCases.filter {
        $0 != .general && !ofTargets.contains($0) && !ofAdministrators.contains($0)
    }
}
