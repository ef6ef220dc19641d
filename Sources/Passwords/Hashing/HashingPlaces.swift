import Accounts

/// Who may still join the queue: a pure decision over figures.
///
/// As many may wait as the threads get through in the longest wait that a caller can be asked to bear. Nobody may hold
/// more of these places than are left to the others: no network, no block of networks more than twice as many, and no
/// subject over all networks. That is the dynamic threshold of Choudhury and Hahne (IEEE/ACM Transactions on Networking
/// 6(2), 1998). A flood from one network fills half of the queue, two a third each, one from all over a block two
/// thirds, and there is a place for whoever comes anew; nobody who was let in is ever pushed out, so that a refusal is
/// always immediate. A block has the larger share so that one network alone shuts no neighbour out.
///
/// A subject's threshold is for blocks from which somebody waits for it already. Otherwise a few requests from all over
/// the world would have its owner refused.
///
/// An attacker of many blocks at once is therefore not told from a crowd, whether they ask about one subject or many:
/// of `n` such blocks, somebody honest is one among `n + 1`, still served in turn if there is a place.
struct HashingPlaces {
    var threads: Int
    var running: Int
    var waiting: Int
    var averageDuration: Duration
    let limits: HashingPool.Limits

    /// What waits of somebody who must leave places to others.
    struct Share {
        /// Why the caller is refused who would take more.
        let reason: HashingRefusal
        let count: Int
        /// How many times what is left it may come to.
        var factor = 1
    }

    struct Refusal: Equatable {
        let reason: HashingRefusal
        /// After which the queue that stands before the caller will be gone.
        let retryAfter: Duration
    }

    /// How many jobs must end before another one starts.
    private var ahead: Int { max(0, waiting + running + 1 - threads) }

    /// - Parameter shares: those of whom the caller is one.
    /// - Returns: `nil` for whoever may join.
    func refusal(holding shares: [Share]) -> Refusal? {
        // A thread has nothing else to do.
        guard ahead > 0 else { return nil }
        let bearable = limits.wait / averageDuration * Double(threads)
        // Written so that no time at all, which makes nonsense of the division, is taken for no bound.
        let places = Int(Double.minimum(Double(limits.length), bearable))
        let free = places - (ahead - 1)
        let reason = free < 1 ? .full : shares.first { $0.count >= free * $0.factor }?.reason
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
    /// The networks around it hold twice as many.
    case block
    /// Those who ask about this subject hold as many as are left, and one of them is near.
    case subject
    /// The server is ending.
    case closed
}

extension HashingQueue {
    /// What waits of those whom the requester is one of; the server itself is one of nobody.
    func shares(of requester: HashingRequester?) -> [HashingPlaces.Share] {
        guard let requester else { return [] }
        var shares = [
            HashingPlaces.Share(reason: .network, count: count(.network(requester.network))),
            HashingPlaces.Share(reason: .block, count: count(.block(requester.block)), factor: 2),
        ]
        if let subject = requester.subject, count(.subjectFromBlock(subject, requester.block)) > 0 {
            shares.append(HashingPlaces.Share(reason: .subject, count: count(.subject(subject))))
        }
        return shares
    }
}
