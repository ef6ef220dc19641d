package import Foundation
package import ProviderKit
internal import Synchronization

/// Keeps in memory what providers find wrong with their services while people sign in.
///
/// Applications are named here, because providers exist before the database has given their applications numbers.
package final class FindingLog: Sendable {
    package struct Owner: Hashable, Sendable {
        package let application, provider: String

        package init(application: String, provider: String) {
            (self.application, self.provider) = (application, provider)
        }
    }

    /// A finding of one provider, and how often it was noted since this was last taken.
    package struct Count: Sendable, Equatable {
        package let owner: Owner
        package let finding: ProviderFinding
        package let count: Int
    }

    fileprivate struct Notes {
        var pending: [ProviderFinding: Int] = [:]
        var lastSeen: [ProviderFinding: Date] = [:]
        var journeys = Journeys()
    }

    private let notes = Mutex<[Owner: Notes]>([:])
    private let now: @Sendable () -> Date

    package init(now: @escaping @Sendable () -> Date = { Date() }) { self.now = now }

    package func note(_ finding: ProviderFinding, of owner: Owner) {
        let now = now()
        notes.withLock { $0[owner, default: Notes()].note(finding, at: now) }
    }

    /// Notes that a person was sent to the provider's pages.
    package func noteRedirect(to owner: Owner) {
        let now = now()
        notes.withLock { notes in
            guard notes[owner, default: Notes()].journeys.depart(at: now) else { return }
            notes[owner, default: Notes()].note(.redirectNeverBack, at: now)
        }
    }

    /// Notes that a person came back from the provider's pages, even if with an error.
    package func noteReturn(from owner: Owner) { notes.withLock { $0[owner]?.journeys = Journeys() } }

    /// When this process last noted each finding of a provider.
    package func lastSeen(of owner: Owner) -> [ProviderFinding: Date] { notes.withLock { $0[owner]?.lastSeen ?? [:] } }

    /// The finding that was noted last of a provider, if that was within the last minute.
    package func latest(of owner: Owner) -> ProviderFinding? {
        let start = now() - 60
        return lastSeen(of: owner).filter { $0.value > start }.max { $0.value < $1.value }?.key
    }

    /// What was noted of a provider after `lastSeen(of:)` had returned these times, by other calls too.
    package func noted(of owner: Owner, since earlier: [ProviderFinding: Date]) -> [ProviderFinding] {
        let latest = lastSeen(of: owner)
        return ProviderFinding.allCases.filter { latest[$0] != earlier[$0] }
    }

    /// What was noted and not taken yet.
    package func pending(of owner: Owner) -> [ProviderFinding: Int] { notes.withLock { $0[owner]?.pending ?? [:] } }

    /// Returns what was noted since the last call.
    package func take() -> [Count] {
        notes.withLock { notes in
            notes.flatMap { owner, own in
                let counts = own.pending.map { Count(owner: owner, finding: $0, count: $1) }
                notes[owner]?.pending = [:]
                return counts
            }
        }
    }

    /// The port of one provider.
    package func port(of owner: Owner) -> any FindingNoting { Port(log: self, owner: owner) }

    private struct Port: FindingNoting {
        let log: FindingLog
        let owner: Owner

        func note(_ finding: ProviderFinding) { log.note(finding, of: owner) }
    }
}

extension FindingLog.Notes {
    fileprivate mutating func note(_ finding: ProviderFinding, at now: Date) {
        pending[finding, default: 0] &+= 1
        lastSeen[finding] = now
    }
}

/// The people who were sent to a provider's pages since the last one came back.
struct Journeys: Sendable {
    /// Fewer people may all have changed their minds.
    static let enough = 5

    private var count = 0
    private var first = Date.distantFuture

    /// Adds a redirect.
    /// - Returns: whether several people had time to come back, and none did.
    mutating func depart(at now: Date) -> Bool {
        if count == 0 { first = now }
        let isOverdue = count >= Self.enough && now.timeIntervalSince(first) > RedirectFlows.lifetime.inSeconds
        count += 1
        guard isOverdue else { return false }
        self = Journeys()
        return true
    }
}
