package import Accounts
import Foundation
import ProviderKit
import Synchronization

/// The signing keys of all applications, cached in memory.
///
/// Readers get an immutable `KeySet`; unknown `kid`s cause at most one load a second, which all callers share.
package final class KeyRing: SigningKeyChanges {
    /// The minimum time between loads for unknown `kid`s.
    static let coolDown: TimeInterval = 1
    /// How long a retired key stays published beyond its tokens: replicas may sign with it until `reloadAll`.
    static let overlapMargin: Duration = .seconds(600)

    private struct Ring {
        var keys: KeySet?
        /// The load that began last, finished or not.
        var load: (startedAt: Date, task: Task<KeySet, any Error>)?
        var begunLoads = 0
        /// The number of the load that `keys` come from.
        var shownLoad = 0
    }

    private let rings = Mutex<[Application.ID: Ring]>([:])
    private let store: any SigningKeyStore
    private let sealing: any Sealing
    private let time: any TimeSource

    package init(store: any SigningKeyStore, sealing: any Sealing, time: any TimeSource) {
        (self.store, self.sealing, self.time) = (store, sealing, time)
    }

    // MARK: - Changing keys

    /// Loads the keys, and generates a signing key for each purpose if there is none or it differs from the policy.
    ///
    /// Call it before the application is served, and after its configuration changed.
    package func prepare(_ application: Application, for purposes: [SigningPurpose] = [.accessTokens]) async throws {
        let wanted = application.policy.tokens
        let bits = wanted.algorithm == .rs256 ? wanted.rsaBits : 0
        let keys = try await load(application.id)
        for purpose in purposes {
            let signing = keys.signing(purpose)
            guard signing?.algorithm != wanted.algorithm || signing?.bits != bits else { continue }
            try await replace(signing?.kid, for: purpose, in: application, overlap: nil)
        }
    }

    package func signingKey(of application: Application) async throws -> String {
        guard let key = try await load(application.id).signing(.accessTokens) else {
            throw TokensError.noSigningKey(application: application.id)
        }
        return key.kid
    }

    /// Replaces the signing keys of tokens, unless another call has replaced the key that was `seen`.
    ///
    /// `overlap` is how long the old key stays published; the default is until its last token has expired. Use zero for
    /// a stolen key: replicas refuse its tokens once they have reloaded the keys.
    package func rotate(
        _ application: Application, replacing seen: String? = nil, overlap: Duration? = nil,
        recording event: AuditEntry? = nil
    ) async throws {
        let keys = try await load(application.id)
        let signing = keys.signing(.accessTokens)?.kid
        guard seen == nil || seen == signing else { return }
        // The key that was `seen` is the last one, so that a repeated call completes a rotation that failed in between.
        if let identifying = keys.signing(.identityTokens) {
            try await replace(identifying.kid, for: .identityTokens, in: application, overlap: overlap)
        }
        try await replace(signing, for: .accessTokens, in: application, overlap: overlap, recording: event)
    }

    package func retire(
        _ kid: String, for purpose: SigningPurpose, of application: Application, recording event: AuditEntry
    ) async throws {
        if let signing = try await load(application.id).signing(purpose), signing.kid.hasSameBytes(as: kid) {
            try await replace(kid, for: purpose, in: application, overlap: .zero, recording: event)
        }
        // Another call may have replaced the key first, with an overlap.
        try await store.unpublishSigningKey(kid, for: purpose, recording: event, application: application.id)
        try await reload(application.id)
    }

    /// Replaces the expected key by a new one; if another replica has replaced it first, that replica's key is used.
    private func replace(
        _ expected: String?, for purpose: SigningPurpose, in application: Application, overlap: Duration?,
        recording event: AuditEntry? = nil
    ) async throws {
        let policy = application.policy.tokens
        let key = try await SigningKey.generate(policy.algorithm, bits: policy.rsaBits)
        try await store.installSigningKey(
            stored(key, for: purpose, in: application.id), replacing: expected,
            overlap: overlap
                ?? max(application.policy.longestAccessLifetime, JWTKind.identityLifetime) + Self.overlapMargin,
            recording: event, application: application.id)
        try await reload(application.id)
    }

    /// The key that signs the application's certificates of erasure; the first call generates it.
    /// - Throws: `TokensError.noSigningKey`.
    func certifyingKey(of application: Application.ID) async throws -> SigningKey {
        if let key = try await keys(of: application).signing(.erasures) { return key }
        let key = try await SigningKey.generate(.es256, bits: 0)
        try await store.installSigningKey(
            stored(key, for: .erasures, in: application), replacing: nil, overlap: .zero, recording: nil,
            application: application)
        guard let key = try await load(application).signing(.erasures) else {
            throw TokensError.noSigningKey(application: application)
        }
        return key
    }

    private func stored(
        _ key: SigningKey, for purpose: SigningPurpose, in application: Application.ID
    ) throws -> StoredSigningKey {
        let place = Self.place(of: key.kid, for: purpose, in: application)
        return StoredSigningKey(
            purpose: purpose, kid: key.kid, algorithm: key.algorithm, bits: key.bits,
            sealedPrivateKey: try sealing.seal(key.exported, at: place), createdAt: time.now())
    }

    private static func place(of kid: String, for purpose: SigningPurpose, in application: Application.ID)
        -> SealingPlace
    {
        let table =
            switch purpose {
            case .accessTokens: "signing_keys"
            case .identityTokens: "identity_keys"
            case .erasures: "erasure_keys"
            }
        return SealingPlace(application: application, table: table, column: "sealed_private_key", row: kid)
    }

    // MARK: - Loading keys

    /// Loads the keys again; call it after another replica changed them.
    package func reload(_ application: Application.ID) async throws { _ = try await load(application) }

    /// Loads the keys of all applications, each minute, in case this replica missed a notification.
    package func reloadAll() async throws {
        var failure: (any Error)?
        for application in rings.withLock({ Array($0.keys) }) {
            do { try await reload(application) } catch { failure = error }
        }
        if let failure { throw failure }
    }

    /// Returns the latest load if it began within the last `coolDown` seconds; otherwise starts a new one.
    private func load(_ application: Application.ID, unlessWithin coolDown: TimeInterval = 0) async throws -> KeySet {
        let now = time.now()
        let task = rings.withLock { rings in
            var ring = rings[application] ?? Ring()
            if let last = ring.load, abs(now.timeIntervalSince(last.startedAt)) < coolDown { return last.task }
            ring.begunLoads += 1
            let number = ring.begunLoads
            // A separate task, because a cancelled request must not fail the load for other requests.
            let task = Task { try await self.fetch(application, number: number) }
            ring.load = (now, task)
            rings[application] = ring
            return task
        }
        return try await task.value
    }

    /// Loads the keys and publishes them, unless a load that began later has already published its keys.
    private func fetch(_ application: Application.ID, number: Int) async throws -> KeySet {
        let stored = try await store.signingKeys(application: application)
        let set = KeySet(try stored.map { ($0, try open($0, of: application)) })
        rings.withLock { rings in
            guard let ring = rings[application], ring.shownLoad < number else { return }
            rings[application]?.keys = set
            rings[application]?.shownLoad = number
        }
        return set
    }

    private func open(_ stored: StoredSigningKey, of application: Application.ID) throws -> SigningKey {
        let bytes = try sealing.open(
            stored.sealedPrivateKey, at: Self.place(of: stored.kid, for: stored.purpose, in: application))
        let key = try SigningKey(stored.algorithm, privateKey: bytes)
        // 32 bytes are a valid key for either curve, so only the thumbprint reveals a changed `algorithm`.
        guard key.kid == stored.kid else { throw TokensError.malformedSigningKey(stored.algorithm) }
        return key
    }
}

// MARK: - Reading keys

extension KeyRing: PublishedKeys {
    package func keySet(of application: Application) async throws -> [UInt8] {
        try await keys(of: application.id).document
    }

    /// The cached keys; they are loaded if the application's keys have never been loaded.
    func keys(of application: Application.ID) async throws -> KeySet {
        if let keys = rings.withLock({ $0[application]?.keys }) { return keys }
        return try await load(application, unlessWithin: Self.coolDown)
    }

    /// - Throws: `TokensError.noSigningKey`.
    func signingKey(of application: Application.ID, for purpose: SigningPurpose = .accessTokens) async throws
        -> SigningKey
    {
        guard let key = try await keys(of: application).signing(purpose) else {
            throw TokensError.noSigningKey(application: application)
        }
        return key
    }

    /// The published key of a purpose with this `kid`.
    ///
    /// An unknown `kid` may be a new key of another replica, so the keys are loaded again, at most once a second.
    func key(_ kid: String, for purpose: SigningPurpose, of application: Application.ID) async throws -> SigningKey? {
        if let key = try await keys(of: application).key(kid, for: purpose) { return key }
        return try await load(application, unlessWithin: Self.coolDown).key(kid, for: purpose)
    }
}
