import Accounts

/// The jobs that wait for a thread.
///
/// Networks take turns, and within a network the subjects whose passwords are asked about; each subject's jobs come in
/// their order. This is the round robin by source that RFC 970 (Nagle, 1985) gives to packets, without the weights of
/// later schemes, since every job costs about the same. So whoever floods from one address waits behind themselves,
/// and whoever shares an address with somebody who hammers at one account has a turn beside them. Every operation
/// takes constant time, however long the queue.
///
/// How long it may become is the business of `HashingPlaces`.
struct HashingQueue {
    typealias ID = UInt64

    struct Job: Sendable {
        let id: ID
        /// `nil` for the server's own.
        let asker: PasswordAsker?
        let since: ContinuousClock.Instant
        /// Does the work and returns what answers the caller, which the pool calls once its statistics are right.
        let run: @Sendable () -> () -> Void
        let giveUp: @Sendable (any Error) -> Void
    }

    /// The jobs of one network.
    private struct Line {
        private var turns = Rotation<AttemptKey?>()
        private var jobs: [AttemptKey?: Rotation<ID>] = [:]
        private(set) var count = 0

        mutating func append(_ id: ID, of subject: AttemptKey?) {
            jobs[subject, default: Rotation()].append(id)
            turns.append(subject)
            count += 1
        }

        mutating func removeFirst() -> ID? {
            guard let subject = turns.removeFirst(), let id = jobs[subject]?.removeFirst() else { return nil }
            count -= 1
            if jobs[subject]?.isEmpty == false { turns.append(subject) } else { jobs[subject] = nil }
            return id
        }

        mutating func remove(_ id: ID, of subject: AttemptKey?) {
            jobs[subject]?.remove(id)
            count -= 1
            guard jobs[subject]?.isEmpty == true else { return }
            jobs[subject] = nil
            turns.remove(subject)
        }
    }

    private var jobs: [ID: Job] = [:]
    private var turns = Rotation<String>()
    private var lines: [String: Line] = [:]
    /// How many wait for each subject, from all networks.
    private var subjects: [AttemptKey: Int] = [:]

    var count: Int { jobs.count }

    /// How many of the network wait.
    func count(network: String) -> Int { lines[network]?.count ?? 0 }

    /// How many wait for the subject, from whatever network.
    func count(subject: AttemptKey) -> Int { subjects[subject] ?? 0 }

    mutating func append(_ job: Job) {
        jobs[job.id] = job
        lines[job.network, default: Line()].append(job.id, of: job.asker?.subject)
        turns.append(job.network)
        if let subject = job.asker?.subject { subjects[subject, default: 0] += 1 }
    }

    mutating func removeFirst() -> Job? {
        guard let network = turns.removeFirst(), let id = lines[network]?.removeFirst() else { return nil }
        if count(network: network) > 0 { turns.append(network) } else { lines[network] = nil }
        return forget(id)
    }

    /// - Returns: `nil` when the job is no longer, or not yet, waiting.
    mutating func remove(_ id: ID) -> Job? {
        guard let job = forget(id) else { return nil }
        lines[job.network]?.remove(id, of: job.asker?.subject)
        if count(network: job.network) == 0 {
            lines[job.network] = nil
            turns.remove(job.network)
        }
        return job
    }

    private mutating func forget(_ id: ID) -> Job? {
        guard let job = jobs.removeValue(forKey: id) else { return nil }
        if let subject = job.asker?.subject {
            let count = count(subject: subject) - 1
            subjects[subject] = count > 0 ? count : nil
        }
        return job
    }
}

extension HashingQueue.Job {
    /// No network is called nothing.
    fileprivate var network: String { asker?.network ?? "" }
}
