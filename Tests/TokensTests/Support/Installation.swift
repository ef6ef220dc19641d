import Accounts
import Foundation

@testable import Tokens

/// One database and one clock, shared by any number of replicas.
struct Installation {
    let time = ManualTime()
    let store: MemoryStore
    let sealer: Sealer

    static let masterKey = Data(repeating: 7, count: 32).base64EncodedString()

    init() async throws {
        store = MemoryStore(time: time)
        sealer = Sealer(rootKey: try await RootKey.open(store, with: MasterKeys(current: Self.masterKey)))
    }

    func keyRing() -> KeyRing {
        KeyRing(store: store, sealing: sealer, time: time)
    }

    func claims(
        in application: Application, issuedAfter offset: Int = 0, lifetime: Int = 3600,
        providerUid: String = "a@b.example"
    ) -> AccessTokenClaims {
        let now = Int(time.now().timeIntervalSince1970) + offset
        return AccessTokenClaims(
            issuer: application.issuer, audience: application.audience, uid: UUID(), sessionID: UUID(),
            tokenID: UUID(), issuedAt: now, expiresAt: now + lifetime, authenticatedAt: now - 5, methods: ["pwd"],
            provider: "email", providerUid: providerUid, email: "a@b.example", emailVerified: true)
    }
}

extension Application {
    static func sample(
        _ id: Application.ID = 1, _ algorithm: SigningAlgorithm = .es256, bits: Int = 2048,
        issuer: String = "https://auth.example", audience: String = "demo", clientLifetime: Duration = .zero
    ) -> Application {
        var policy = ApplicationPolicy()
        policy.tokens.algorithm = algorithm
        policy.tokens.rsaBits = bits
        policy.longestClientLifetime = clientLifetime
        return Application(
            id: id, name: "application \(id)", issuer: issuer, audience: audience, policy: policy,
            providers: ProviderRegistry(installedKinds: [], configured: []))
    }
}
