import Accounts

/// Decides who may join the queue, as a pure function of counts.
///
/// The queue is as long as the threads can work off within the longest acceptable wait. A network may hold at most as many
/// places as are free, a block of networks twice as many, and a subject as many over all networks. This is the dynamic
/// threshold of Choudhury and Hahne (IEEE/ACM Transactions on Networking 6(2), 1998): a flood from one network fills half
/// of the queue, floods from two a third each, one from a whole block two thirds, and newcomers still find a place. Jobs
/// that were admitted are never dropped, so a refusal is always immediate.
///
/// The threshold of a subject applies only to blocks that already have a job for it waiting. Otherwise a few requests from
/// all over the world would lock its owner out.
///
/// An attacker with many blocks cannot be distinguished from a crowd: among `n` such blocks an honest client is served as
/// one of `n + 1`, if there is a place.
struct HashingPlaces {
    var threads: Int
    var running: Int
    var waiting: Int
    var averageDuration: Duration
    let limits: HashingPool.Limits

    /// The waiting jobs of a group that must leave places to others.
    struct Share {
        /// The reason for refusing the group's next job.
        let reason: HashingRefusal
        let count: Int
        /// How many times the number of free places the group may hold.
        var factor = 1
    }

    struct Refusal: Equatable {
        let reason: HashingRefusal
        /// When the present queue will be worked off.
        let retryAfter: Duration
    }

    /// The number of jobs that must end before another one starts.
    private var ahead: Int { max(0, waiting + running + 1 - threads) }

    /// - Parameter shares: the groups that the caller belongs to.
    /// - Returns: `nil` if the caller may join the queue.
    func refusal(holding shares: [Share]) -> Refusal? {
        // A thread is free.
        guard ahead > 0 else { return nil }
        let bearable = limits.wait / averageDuration * Double(threads)
        // `Double.minimum` ignores NaN, which the division gives for durations of zero.
        let places = Int(Double.minimum(Double(limits.length), bearable))
        let free = places - (ahead - 1)
        let reason = free < 1 ? .full : shares.first { $0.count >= free * $0.factor }?.reason
        return reason.map { reason in
            Refusal(reason: reason, retryAfter: max(averageDuration * ahead / threads, .seconds(1)))
        }
    }
}

/// Why a job was refused; the raw values are labels at `/metrics`.
package enum HashingRefusal: String, Sendable, CaseIterable {
    /// The wait would be too long.
    case full
    /// The network holds as many places as are free.
    case network
    /// The block of networks holds twice as many places as are free.
    case block
    /// Jobs for the subject hold as many places as are free, and one of them comes from the same block.
    case subject
    /// The server is shutting down.
    case closed
}

extension HashingQueue {
    /// The groups that the requester belongs to; none for the server itself.
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
