import Foundation
import Passwords

/// The memory of a server and its bound.
enum ResidentMemory {
    /// The highest resident memory of a server that has hashed nothing yet, in megabytes.
    static let atRest = 60.0
    /// The highest resident memory of a server a minute after thousands of connections, in megabytes: 90 MiB.
    static let afterConnections = 94.0

    /// Returns the highest resident memory under load: the memory at rest, and one region per hashing thread.
    static func underLoad(base: Double) -> Double {
        let region = Double(Argon2Parameters.standard.memoryKiB) * 1024 / 1e6
        return base + Double(Stage.hashingThreads) * region
    }

    /// Samples the resident memory once a second while the body runs.
    static func sampled<Value: Sendable>(
        of id: pid_t, during body: @escaping @Sendable () async throws -> Value
    ) async throws -> (value: Value, megabytes: [Double]) {
        try await withThrowingTaskGroup(of: [Double].self) { group in
            // Runs beside the body and ends with it.
            group.addTask {
                var samples: [Double] = []
                while !Task.isCancelled {
                    samples.append(try ProcessStatus.residentMegabytes(of: id))
                    try? await Task.sleep(for: .seconds(1))
                }
                return samples
            }
            let value = try await body()
            group.cancelAll()
            return (value, try await group.reduce([], +))
        }
    }
}
