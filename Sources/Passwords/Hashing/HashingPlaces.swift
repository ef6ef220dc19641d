import Accounts

/// Who may still join the queue: a pure decision over figures.
///
/// As many may wait as the threads get through in the longest wait that a caller can be asked to bear. Nobody may hold
/// more of these places than are left to the others: no network, and no subject over all networks. That is the dynamic
/// threshold of Choudhury and Hahne (IEEE/ACM Transactions on Networking 6(2), 1998). One flood fills half of the queue, two a
/// third each, and there is always a place for whoever comes anew; nobody who was let in is ever pushed out, so that a
/// refusal is always immediate.
///
/// An attacker of many networks and many subjects at once is not told from a crowd: of `n` such networks, somebody
/// honest is one among `n + 1`, still served in turn if there is a place. One who hammers at a single subject from many
/// networks holds at most half of the queue, and keeps nobody but that subject waiting.
struct HashingPlaces {
    var threads: Int
    var running: Int
    var waiting: Int
    var averageDuration: Duration
    let limits: HashingPool.Limits

    struct Refusal: Equatable {
        let reason: HashingRefusal
        /// After which the queue that stands before the caller will be gone.
        let retryAfter: Duration
    }

    /// How many jobs must end before another one starts.
    private var ahead: Int { max(0, waiting + running + 1 - threads) }

    /// - Parameter held: the most that wait of the caller's network, or for the subject, with the refusal's reason.
    /// - Returns: `nil` for whoever may join.
    func refusal(holding held: [(HashingRefusal, Int)]) -> Refusal? {
        // A thread has nothing else to do.
        guard ahead > 0 else { return nil }
        let bearable = limits.wait / averageDuration * Double(threads)
        // Written so that no time at all, which makes nonsense of the division, is taken for no bound.
        let places = Int(Double.minimum(Double(limits.length), bearable))
        let free = places - (ahead - 1)
        let reason = free < 1 ? .full : held.first { $0.1 >= free }?.0
        return reason.map { reason in
            Refusal(reason: reason, retryAfter: max(averageDuration * ahead / threads, .seconds(1)))
        }
    }
}

/// Why somebody was not let in; the raw values are labels at `/metrics`.
package enum HashingRefusal: String, Sendable, CaseIterable {
    /// Everybody would wait too long.
    case full
    /// The network holds as many places as are left to all others.
    case network
    /// Those who ask about this subject do.
    case subject
    /// The server is ending.
    case closed
}
