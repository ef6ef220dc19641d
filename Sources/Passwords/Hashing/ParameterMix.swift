package import Accounts
internal import Synchronization

/// The Argon2 parameters of the stored passwords, by application, as they were last read.
///
/// A run without a stored hash draws its parameters from this mix. If it used the parameters in force, an unknown
/// address would cost more than a known one for as long as older hashes remain after the parameters were raised.
package final class ParameterMix: Sendable {
    private struct Part {
        let parameters: Argon2Parameters
        let count: Int
    }

    private let parts = Mutex<[Application.ID: [Part]]>([:])

    package init() {}

    /// `costs` is the field `m=…,t=…,p=…` of the stored hashes; one that this version can't read is left out.
    package func replace(with read: [(application: Application.ID, costs: String, count: Int)]) {
        var counts: [Application.ID: [Argon2Parameters: Int]] = [:]
        for (application, costs, count) in read where count > 0 {
            guard let parameters = PHCString.parameters(costs) else { continue }
            counts[application, default: [:]][parameters, default: 0] += count
        }
        let sorted = counts.mapValues { counts in
            counts.map { Part(parameters: $0.key, count: $0.value) }.sorted {
                $0.parameters.isCheaper(than: $1.parameters)
            }
        }
        parts.withLock { $0 = sorted }
    }

    /// The parameters of a run for a subject without a stored hash, in proportion to the mix; `nil` where nothing is
    /// stored.
    ///
    /// The subject's pseudonym decides, so that a subject costs the same each time. A subject changes its parameters at
    /// most once while the hashes of an application move from old parameters to new ones.
    func parameters(for requester: HashingRequester) -> Argon2Parameters? {
        guard let application = requester.application, let subject = requester.subject else { return nil }
        let parts = parts.withLock { $0[application] } ?? []
        let total = parts.reduce(0) { $0 + $1.count }
        guard total > 0 else { return nil }
        let drawn = Double(subject.bytes.prefix(4).reduce(0) { $0 << 8 | Int($1) }) / 0x1p32
        var passed = 0
        let part = parts.first { part in
            passed += part.count
            return drawn * Double(total) < Double(passed)
        }
        return part?.parameters
    }
}

extension Argon2Parameters {
    fileprivate func isCheaper(than other: Argon2Parameters) -> Bool {
        (memoryKiB, iterations, parallelism) < (other.memoryKiB, other.iterations, other.parallelism)
    }
}
