import Accounts
import Crypto
import Synchronization

/// A cache of verified tokens by their SHA-256; callers check the times and the key of each entry again.
///
/// Two generations of entries limit the size: when the young generation is full, it replaces the old one. When an entry
/// of the old generation is used, it moves to the young one.
final class VerifiedTokenCache<Claims: Sendable>: Sendable {
    /// The key includes the application, because a token is valid for one application only.
    struct Key: Hashable {
        let application: Application.ID
        let digest: SHA256Digest

        init(application: Application.ID, token: String) {
            self.application = application
            var token = token
            digest = token.withUTF8 { SHA256.hash(data: UnsafeRawBufferPointer($0)) }
        }
    }

    struct Entry {
        let kid: String
        let claims: Claims
    }

    private struct Generations {
        var young: [Key: Entry] = [:]
        var old: [Key: Entry] = [:]
    }

    private let generations = Mutex(Generations())
    private let capacity: Int

    /// - Parameter capacity: the number of entries in one generation; 0 disables the cache.
    init(capacity: Int = 10_000) { self.capacity = capacity }
    var count: Int { generations.withLock { $0.young.count + $0.old.count } }

    subscript(key: Key) -> Entry? {
        generations.withLock { generations in
            if let entry = generations.young[key] { return entry }
            guard let entry = generations.old.removeValue(forKey: key) else { return nil }
            insert(entry, for: key, into: &generations)
            return entry
        }
    }

    func insert(_ entry: Entry, for key: Key) { generations.withLock { insert(entry, for: key, into: &$0) } }

    private func insert(_ entry: Entry, for key: Key, into generations: inout Generations) {
        guard capacity > 0 else { return }
        if generations.young.count >= capacity {
            generations.old = generations.young
            generations.young = [:]
        }
        generations.young[key] = entry
    }
}
