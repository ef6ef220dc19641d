import Accounts

/// The jobs that wait for a thread, and the places that are reserved for further jobs.
///
/// Jobs are scheduled round robin among blocks of networks, within a block among its networks, and within a network
/// among the subjects (the accounts or addresses whose passwords are checked). Jobs of one subject keep their order.
/// This is the fair queueing by source of RFC 970 (Nagle, 1985), without weights because all jobs cost about the same.
/// A flood from one address or block therefore delays mainly its own jobs, and other subjects at the same address still
/// get turns. Every operation takes constant time.
///
/// `HashingPlaces` limits the length.
struct HashingQueue {
    typealias ID = UInt64

    struct Job: Sendable {
        let id: ID
        /// The requester; `nil` for the server's own jobs.
        let requester: HashingRequester?
        let since: ContinuousClock.Instant
        /// Does the work and returns a closure that resumes the caller, which the pool calls after it has updated the
        /// statistics.
        let run: @Sendable () -> () -> Void
        let giveUp: @Sendable (any Error) -> Void
    }

    /// A set of jobs that are counted together.
    enum Group: Hashable {
        case network(String)
        case block(String)
        case subject(AttemptKey)
        case subjectFromBlock(AttemptKey, String)
    }

    /// The levels at which jobs take turns, from the widest to the narrowest.
    fileprivate enum Step: Hashable {
        case block(String)
        case network(String)
        case subject(AttemptKey?)
        case job(ID)
    }

    /// The round-robin order at one level, and the next level below each of its entries.
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
    private var reservations: [HashingPlace: HashingRequester] = [:]
    private var line = Line()
    private var members: [Group: Int] = [:]

    /// The number of waiting jobs.
    var count: Int { jobs.count }
    var isEmpty: Bool { jobs.isEmpty }
    var reserved: Int { reservations.count }
    func count(_ group: Group) -> Int { members[group] ?? 0 }

    mutating func append(_ job: Job) {
        jobs[job.id] = job
        line.append(job.path[...])
        join(job.requester)
    }

    mutating func removeFirst() -> Job? { line.removeFirst().flatMap { forget($0) } }

    /// Removes a job, for example because its client disconnected.
    /// - Returns: `nil` if the job is not waiting.
    mutating func remove(_ id: ID) -> Job? {
        guard let job = forget(id) else { return nil }
        line.remove(job.path[...])
        return job
    }

    private mutating func forget(_ id: ID) -> Job? {
        guard let job = jobs.removeValue(forKey: id) else { return nil }
        leave(job.requester)
        return job
    }

    /// Counts a place as a job of the requester; the place must not be reserved.
    mutating func reserve(_ place: HashingPlace, for requester: HashingRequester) {
        reservations[place] = requester
        join(requester)
    }

    /// - Returns: the requester of the place; `nil` if the place is not reserved.
    mutating func giveBack(_ place: HashingPlace) -> HashingRequester? {
        guard let requester = reservations.removeValue(forKey: place) else { return nil }
        leave(requester)
        return requester
    }

    private mutating func join(_ requester: HashingRequester?) {
        for group in requester?.groups ?? [] { members[group, default: 0] += 1 }
    }

    private mutating func leave(_ requester: HashingRequester?) {
        for group in requester?.groups ?? [] {
            let rest = count(group) - 1
            members[group] = rest > 0 ? rest : nil
        }
    }
}

extension HashingQueue.Job {
    /// The job's position at each level; the server's own jobs have an empty network, which no client has.
    fileprivate var path: [HashingQueue.Step] {
        [.block(requester?.block ?? ""), .network(requester?.network ?? ""), .subject(requester?.subject), .job(id)]
    }
}

extension HashingRequester {
    fileprivate var groups: [HashingQueue.Group] {
        let places: [HashingQueue.Group] = [.network(network), .block(block)]
        guard let subject else { return places }
        return places + [.subject(subject), .subjectFromBlock(subject, block)]
    }
}
