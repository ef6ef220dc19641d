package import Accounts
import Foundation
import Synchronization

/// Every application's signing keys, in memory.
///
/// Readers take an immutable `KeySet` from under a lock held for one look-up. Loads replace it whole; at most one a
/// second is made for unknown `kid`s, whose callers all wait for that one.
package final class KeyRing: Sendable {
    /// How long a `kid` that nobody knows keeps the next one from asking the database again.
    static let coolDown: TimeInterval = 1
    /// Added to the life of a token to tell how long a retired key stays published.
    ///
    /// A replica that missed the rotation goes on signing with it until its next `reloadAll`.
    static let overlapMargin: Duration = .seconds(600)

    private struct Ring {
        var keys: KeySet?
        /// The latest load, finished or not.
        var load: (startedAt: Date, task: Task<KeySet, any Error>)?
        var begunLoads = 0
        /// Which load `keys` come from.
        var shownLoad = 0
    }

    private let rings = Mutex<[Application.ID: Ring]>([:])
    private let store: any SigningKeyStore
    private let sealing: any Sealing
    private let time: any TimeSource

    package init(store: any SigningKeyStore, sealing: any Sealing, time: any TimeSource) {
        self.store = store
        self.sealing = sealing
        self.time = time
    }
}

// MARK: - Changing keys

extension KeyRing {
    /// Loads the application's keys, and makes one when none signs or the policy asks for another algorithm or length.
    ///
    /// To be called before the application is served, and when its configuration has changed.
    package func prepare(_ application: Application) async throws {
        let signing = try await load(application.id).signing
        let wanted = application.policy.tokens
        let bits = wanted.algorithm == .rs256 ? wanted.rsaBits : 0
        guard signing?.algorithm != wanted.algorithm || signing?.bits != bits else { return }
        try await replace(signing?.kid, in: application, overlap: nil)
    }

    /// Signs with a new key from now on.
    ///
    /// `overlap` is how long the old key stays published; by default until its last token has expired. Zero is for a
    /// key that was stolen: its tokens are refused as soon as each replica has read the keys again.
    package func rotate(_ application: Application, overlap: Duration? = nil) async throws {
        let signing = try await load(application.id).signing
        try await replace(signing?.kid, in: application, overlap: overlap)
    }

    /// Where another replica was faster, its key is the one that is used, and ours is dropped.
    private func replace(_ expected: String?, in application: Application, overlap: Duration?) async throws {
        let policy = application.policy.tokens
        let key = try await SigningKey.generate(policy.algorithm, bits: policy.rsaBits)
        try await store.installSigningKey(
            stored(key, for: .accessTokens, in: application.id), replacing: expected,
            overlap: overlap ?? policy.accessLifetime + Self.overlapMargin, application: application.id)
        try await reload(application.id)
    }

    /// The key that signs the application's certificates of erasure; whoever asks first makes it.
    ///
    /// - Throws: `TokensError.noSigningKey`.
    func certifyingKey(of application: Application.ID) async throws -> SigningKey {
        if let key = try await keys(of: application).certifying { return key }
        let key = try await SigningKey.generate(.es256, bits: 0)
        try await store.installSigningKey(
            stored(key, for: .erasures, in: application), replacing: nil, overlap: .zero, application: application)
        guard let key = try await load(application).certifying else {
            throw TokensError.noSigningKey(application: application)
        }
        return key
    }

    private func stored(
        _ key: SigningKey, for purpose: SigningPurpose, in application: Application.ID
    ) throws -> StoredSigningKey {
        StoredSigningKey(
            purpose: purpose, kid: key.kid, algorithm: key.algorithm, bits: key.bits,
            sealedPrivateKey: try sealing.seal(
                key.exported, at: Self.place(of: key.kid, for: purpose, in: application)),
            createdAt: time.now())
    }

    private static func place(of kid: String, for purpose: SigningPurpose, in application: Application.ID)
        -> SealingPlace
    {
        let table =
            switch purpose {
            case .accessTokens: "signing_keys"
            case .erasures: "erasure_keys"
            }
        return SealingPlace(application: application, table: table, column: "sealed_private_key", row: kid)
    }
}

// MARK: - Loading keys

extension KeyRing {
    /// Reads the keys anew; for when another replica says that it has changed them.
    package func reload(_ application: Application.ID) async throws {
        _ = try await load(application)
    }

    /// To be called every minute: a replica that hears nothing must stop signing with a key that another has retired.
    ///
    /// An application that fails doesn't keep the others from being read.
    package func reloadAll() async throws {
        var failure: (any Error)?
        for application in rings.withLock({ Array($0.keys) }) {
            do { try await reload(application) } catch { failure = error }
        }
        if let failure { throw failure }
    }

    /// The outcome, be it an error, of the load that began within the last `coolDown` seconds, or else of a new one.
    private func load(_ application: Application.ID, unlessWithin coolDown: TimeInterval = 0) async throws -> KeySet {
        let now = time.now()
        let task = rings.withLock { rings in
            var ring = rings[application] ?? Ring()
            if let last = ring.load, abs(now.timeIntervalSince(last.startedAt)) < coolDown { return last.task }
            ring.begunLoads += 1
            let number = ring.begunLoads
            // A task of its own: others wait for it too, so it must not be cancelled with the request that began it.
            let task = Task { try await self.fetch(application, number: number) }
            ring.load = (now, task)
            rings[application] = ring
            return task
        }
        return try await task.value
    }

    /// Shows what it read, unless a load that began later has done so already.
    private func fetch(_ application: Application.ID, number: Int) async throws -> KeySet {
        let stored = try await store.signingKeys(application: application)
        let keys = try stored.map { try open($0, of: application) }
        let all = Array(zip(stored, keys))
        func those(_ purpose: SigningPurpose) -> [(StoredSigningKey, SigningKey)] {
            all.filter { $0.0.purpose == purpose }
        }
        func current(_ purpose: SigningPurpose) -> SigningKey? { those(purpose).first { $0.0.retiredAt == nil }?.1 }
        let set = KeySet(
            signing: current(.accessTokens), published: those(.accessTokens).map(\.1),
            certifying: current(.erasures), certified: those(.erasures).map(\.1))
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
        // 32 bytes are a key for either curve: a changed `algorithm` shows in the thumbprint alone.
        guard key.kid == stored.kid else { throw TokensError.malformedSigningKey(stored.algorithm) }
        return key
    }
}

// MARK: - Reading keys

extension KeyRing: PublishedKeys {
    package func keySet(of application: Application) async throws -> [UInt8] {
        try await keys(of: application.id).document
    }

    /// Without a look at the database, but for an application that was never loaded.
    func keys(of application: Application.ID) async throws -> KeySet {
        if let keys = rings.withLock({ $0[application]?.keys }) { return keys }
        return try await load(application, unlessWithin: Self.coolDown)
    }

    /// - Throws: `TokensError.noSigningKey`.
    func signingKey(of application: Application.ID) async throws -> SigningKey {
        guard let key = try await keys(of: application).signing else {
            throw TokensError.noSigningKey(application: application)
        }
        return key
    }

    /// The key that signed a token, by the token's first part.
    ///
    /// A `kid` that is not known may be that of a replica which rotated first: the keys are read again, at most once
    /// a second.
    /// - Throws: `AccountsError.invalidToken` for a header that none of the keys has.
    func key(withHeader header: ArraySlice<UInt8>, of application: Application.ID) async throws -> SigningKey {
        let keys = try await keys(of: application)
        if let key = keys.key(withHeader: header) { return key }
        guard let kid = AccessTokenHeader.kid(of: header), !keys.publishes(kid),
            let key = try await load(application, unlessWithin: Self.coolDown).key(withHeader: header)
        else { throw AccountsError.invalidToken }
        return key
    }
}
