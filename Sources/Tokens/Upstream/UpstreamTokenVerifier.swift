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
    private let configured = Mutex<[TokenKeys: UpstreamKeySet]>([:])

    /// `coolDown` is the minimum time between two fetches caused by tokens with unknown keys.
    package init(http: any HTTPFetching, now: @escaping @Sendable () -> Date, coolDown: Duration = .seconds(30)) {
        self.now = now
        published = UpstreamKeyCache(http: http, now: now, coolDown: coolDown)
    }

    package func verify(_ token: String, by rules: TokenRules) async throws -> TokenClaims {
        guard let token = UpstreamToken(token), rules.algorithms.contains(token.algorithm),
            rules.accept(token.claims, at: now())
        else { throw ProviderError.refused }
        let key = try await key(for: token, of: rules.keys)
        // The rules are checked again, because a token may have expired while the keys were fetched.
        guard key.signed(token), rules.accept(token.claims, at: now()) else { throw ProviderError.refused }
        return token.claims
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
