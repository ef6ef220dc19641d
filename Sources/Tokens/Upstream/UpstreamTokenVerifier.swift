package import Foundation
package import ProviderKit
internal import Synchronization

/// Verifies tokens of other issuers with their keys and a provider's rules.
///
/// The signature is checked last, so that a malformed, expired or foreign token never causes a fetch of keys.
package final class UpstreamTokenVerifier: TokenVerifying {
    /// The largest number of cached key sets; a full cache is emptied, which also drops the sets of replaced settings.
    private static let capacity = 64

    private let now: @Sendable () -> Date
    private let published: UpstreamKeyCache
    private let findings: any FindingNoting
    private let configured = Mutex<[TokenKeys: UpstreamKeySet]>([:])

    /// `coolDown` is the minimum time between two fetches caused by tokens with unknown keys.
    package init(
        http: any HTTPFetching, now: @escaping @Sendable () -> Date, coolDown: Duration = .seconds(30),
        findings: any FindingNoting = UnnotedFindings()
    ) {
        self.now = now
        self.findings = findings
        published = UpstreamKeyCache(http: http, now: now, coolDown: coolDown)
    }

    package func verify(_ token: String, by rules: TokenRules) async throws -> TokenClaims {
        guard let token = UpstreamToken(token), rules.algorithms.contains(token.algorithm) else {
            if rules.isFromService { findings.note(.keysUnusable) }
            throw ProviderError.refused
        }
        guard token.mayBeIDToken || !rules.acceptsOnlyIDTokens else { throw ProviderError.refused }
        if let fault = rules.fault(in: token.claims, at: now()) {
            note(fault, of: token, by: rules)
            throw ProviderError.refused
        }
        let key = try await notedKey(for: token, by: rules)
        guard key.signed(token) else {
            if rules.isFromService { findings.note(.signatureInvalid) }
            throw ProviderError.refused
        }
        // The rules are checked again, because a token may have expired while the keys were fetched.
        guard rules.fault(in: token.claims, at: now()) == nil else { throw ProviderError.refused }
        return token.claims
    }

    /// Notes why a token is refused; anyone can send a token that the service has not signed.
    private func note(_ fault: TokenRules.Fault, of token: UpstreamToken, by rules: TokenRules) {
        guard rules.isFromService || knownKey(for: token, of: rules.keys)?.signed(token) == true else { return }
        switch fault {
        case .issuer: findings.note(.issuerMismatch)
        case .audience: findings.note(.audienceMismatch)
        case .early: findings.note(.clockBehind)
        // A token that has just been issued is late only by this server's clock.
        case .late: if rules.isFromService { findings.note(.clockAhead) }
        }
    }

    private func notedKey(for token: UpstreamToken, by rules: TokenRules) async throws -> UpstreamKey {
        do {
            return try await key(for: token, of: rules.keys)
        } catch ProviderError.refused {
            if rules.isFromService { findings.note(.keysUnusable) }
            throw ProviderError.refused
        }
    }

    /// The key of a token without a fetch; `nil` if the keys were not fetched yet.
    private func knownKey(for token: UpstreamToken, of keys: TokenKeys) -> UpstreamKey? {
        if case .published(let url) = keys { return published.knownKey(for: token, at: url) }
        return try? keySet(keys).key(for: token)
    }

    package func check(published json: [UInt8], for algorithms: Set<TokenRules.Algorithm>) throws {
        guard let keys = UpstreamKeySet(published: json) else {
            throw UnreadableKeys(reason: "are not a JWK Set")
        }
        guard keys.hasKey(for: algorithms) else {
            let names = algorithms.map(\.rawValue).sorted().joined(separator: ", ")
            throw UnreadableKeys(reason: "have none for \(names)")
        }
    }

    package func check(_ keys: TokenKeys) throws {
        switch keys {
        case .published: break
        case .set, .pem: _ = try keySet(keys)
        }
    }

    /// Checks that the text is a JWK Set with keys for signatures.
    /// - Throws: `UnreadableKeys`.
    package static func check(set text: String) throws { _ = try UpstreamKeySet(set: text) }

    private func key(for token: UpstreamToken, of keys: TokenKeys) async throws -> UpstreamKey {
        if case .published(let url) = keys { return try await published.key(for: token, at: url) }
        guard let key = try? keySet(keys).key(for: token) else { throw ProviderError.refused }
        return key
    }

    private func keySet(_ keys: TokenKeys) throws -> UpstreamKeySet {
        if let known = configured.withLock({ $0[keys] }) { return known }
        let set =
            switch keys {
            case .set(let text): try UpstreamKeySet(set: text)
            case .pem(let text): try UpstreamKeySet(pem: text)
            case .published: throw UnreadableKeys(reason: "are published elsewhere")
            }
        configured.withLock { configured in
            if configured.count >= Self.capacity { configured.removeAll() }
            configured[keys] = set
        }
        return set
    }
}
