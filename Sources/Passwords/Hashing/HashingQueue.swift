import Accounts

/// The jobs that wait for a thread.
///
/// Blocks of networks take turns, in them networks, and within a network the subjects whose passwords are asked about;
/// each subject's jobs come in their order. This is the round robin by source that RFC 970 (Nagle, 1985) gives to
/// packets, without the weights of later schemes, since every job costs about the same. So whoever floods from one
/// address, or from all over a block, waits behind themselves, and whoever shares an address with somebody who hammers
/// at one account has a turn beside them. Every operation takes constant time, however long the queue.
///
/// How long it may become is the business of `HashingPlaces`.
struct HashingQueue {
    typealias ID = UInt64

    struct Job: Sendable {
        let id: ID
        /// `nil` for the server's own.
        let requester: HashingRequester?
        let since: ContinuousClock.Instant
        /// Does the work and returns what answers the caller, which the pool calls once its statistics are right.
        let run: @Sendable () -> () -> Void
        let giveUp: @Sendable (any Error) -> Void
    }

    /// Askers who have something in common.
    enum Group: Hashable {
        case network(String)
        case block(String)
        case subject(AttemptKey)
        case subjectFromBlock(AttemptKey, String)
    }

    /// What jobs take turns by, the widest first.
    fileprivate enum Step: Hashable {
        case block(String)
        case network(String)
        case subject(AttemptKey?)
        case job(ID)
    }

    /// Turns by one step, in each of which those of the next step have theirs.
    private struct Line {
        private var turns = Rotation<Step>()
        private var lines: [Step: Line] = [:]

        var isEmpty: Bool { lines.isEmpty }

        mutating func append(_ path: ArraySlice<Step>) {
            guard let step = path.first else { return }
            lines[step, default: Line()].append(path.dropFirst())
            turns.append(step)
        }

        mutating func removeFirst() -> ID? {
            guard let step = turns.removeFirst() else { return nil }
            let id = if case .job(let id) = step { Optional(id) } else { lines[step]?.removeFirst() }
            if lines[step]?.isEmpty == false { turns.append(step) } else { lines[step] = nil }
            return id
        }

        mutating func remove(_ path: ArraySlice<Step>) {
            guard let step = path.first else { return }
            lines[step]?.remove(path.dropFirst())
            guard lines[step]?.isEmpty == true else { return }
            lines[step] = nil
            turns.remove(step)
        }
    }

    private var jobs: [ID: Job] = [:]
    private var line = Line()
    private var members: [Group: Int] = [:]

    var count: Int { jobs.count }

    /// How many of the group wait.
    func count(_ group: Group) -> Int { members[group] ?? 0 }

    mutating func append(_ job: Job) {
        jobs[job.id] = job
        line.append(job.path[...])
        for group in job.groups { members[group, default: 0] += 1 }
    }

    mutating func removeFirst() -> Job? {
        line.removeFirst().flatMap { forget($0) }
    }

    /// - Returns: `nil` when the job is no longer, or not yet, waiting.
    mutating func remove(_ id: ID) -> Job? {
        guard let job = forget(id) else { return nil }
        line.remove(job.path[...])
        return job
    }

    private mutating func forget(_ id: ID) -> Job? {
        guard let job = jobs.removeValue(forKey: id) else { return nil }
        for group in job.groups {
            let rest = count(group) - 1
            members[group] = rest > 0 ? rest : nil
        }
        return job
    }
}

extension HashingQueue.Job {
    /// No network is called nothing.
    fileprivate var path: [HashingQueue.Step] {
        [.block(requester?.block ?? ""), .network(requester?.network ?? ""), .subject(requester?.subject), .job(id)]
    }

    fileprivate var groups: [HashingQueue.Group] {
        guard let requester else { return [] }
        let places: [HashingQueue.Group] = [.network(requester.network), .block(requester.block)]
        guard let subject = requester.subject else { return places }
        return places + [.subject(subject), .subjectFromBlock(subject, requester.block)]
    }
}
