import Accounts

/// Decides whether a job may join the hashing queue, as a pure function of counts.
///
/// The queue may be as long as the threads can process within the longest acceptable wait. A reserved place counts as a
/// waiting job. Clients are grouped by network, and networks by block. A network may hold at most as many places as are
/// free, a block twice as many. A subject (the account or address whose password is checked) may hold as many places as
/// are free, counted over all networks. This is the dynamic threshold of Choudhury and Hahne (IEEE/ACM Transactions on
/// Networking 6(2), 1998). A flood from one network fills half of the queue, floods from two networks fill a third
/// each, and a flood from a whole block fills two thirds, so other clients still find a place. Jobs that were admitted
/// are never dropped, so a refusal is always immediate.
///
/// The threshold of a subject applies only to blocks that already have a waiting job for that subject. Otherwise a few
/// requests from many blocks would lock the subject's owner out.
///
/// An attacker with many blocks cannot be distinguished from a crowd: among `n` such blocks, an honest client gets one
/// of `n + 1` turns, if there is a place.
struct HashingPlaces {
    var threads, running, waiting: Int
    var averageDuration: Duration
    let limits: HashingPool.Limits

    /// The number of waiting jobs and reserved places of a group, compared with the free places to decide whether the
    /// group may add another.
    struct Share {
        /// The reason for refusing the group's next job.
        let reason: HashingRefusal
        let count: Int
        /// The group may hold up to this multiple of the free places.
        var factor = 1
    }

    struct Refusal: Equatable {
        let reason: HashingRefusal
        /// The expected time until the current queue has been processed.
        let retryAfter: Duration
    }

    /// The number of jobs that must end before a new job can start.
    private var ahead: Int { max(0, waiting + running + 1 - threads) }

    /// - Parameters:
    ///   - shares: the groups that the caller belongs to.
    ///   - hasPlace: whether the caller has reserved a place, which `waiting` does not contain. It is then refused only
    ///     because of its subject, which was not known when it reserved the place.
    /// - Returns: `nil` if the caller may join the queue.
    func refusal(holding shares: [Share], hasPlace: Bool = false) -> Refusal? {
        // Without jobs ahead, a thread is free.
        guard ahead > 0 else { return nil }
        let bearable = limits.wait / averageDuration * Double(threads)
        // The division gives NaN if both durations are zero; `Double.minimum` ignores NaN.
        let places = Int(Double.minimum(Double(limits.length), bearable))
        let free = places - (ahead - 1)
        let shares = hasPlace ? shares.filter { $0.reason == .subject } : shares
        let reason = free < 1 && !hasPlace ? .full : shares.first { $0.count >= free * $0.factor }?.reason
        return reason.map { reason in
            Refusal(reason: reason, retryAfter: max(averageDuration * ahead / threads, .seconds(1)))
        }
    }
}

/// The reason why a job was refused; the raw values are labels at `/metrics`.
package enum HashingRefusal: String, Sendable, CaseIterable {
    case full
    /// The network holds as many places as are free.
    case network
    /// The block of networks holds twice as many places as are free.
    case block
    /// Jobs for the subject hold as many places as are free, and one of them comes from the same block.
    case subject
    case closed
}

extension HashingQueue {
    /// The groups that the requester belongs to; empty for the server's own jobs.
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

extension HashingPool {
    package struct Limits: Sendable {
        /// The longest expected wait for a thread, computed from the average duration of past jobs.
        package var wait: Duration
        /// The largest number of waiting jobs, regardless of the average duration.
        package var length: Int

        package init(wait: Duration = .seconds(2), length: Int = 512) { (self.wait, self.length) = (wait, length) }
    }
}
