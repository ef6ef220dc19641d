package import Accounts
internal import Synchronization

/// The distribution of Argon2 parameters among the stored passwords of each application.
///
/// If an address is unknown, there is no stored hash, and the run takes its parameters from this distribution. With the
/// current parameters an unknown address would take longer than a known one for as long as older, cheaper hashes
/// remain, which would reveal whether an address is known.
package final class ParameterMix: Sendable {
    private struct Part {
        let parameters: Argon2Parameters
        let count: Int
    }

    private let parts = Mutex<[Application.ID: [Part]]>([:])

    package init() {}

    /// Replaces the distribution; `costs` is the field `m=…,t=…,p=…` of stored hashes, which is ignored if it cannot be
    /// parsed.
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

    /// The parameters for a subject without a stored hash; `nil` if the application has no hashes.
    ///
    /// The subject's pseudonym selects the parameters, so that repeated calls cost the same. The selection changes at
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
