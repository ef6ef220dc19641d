import Foundation

/// Measures the share of processor time that each participant uses.
struct ProcessorMeter: Sendable {
    struct Processes: Sendable {
        let servers: [pid_t]
        /// The process id of the postmaster, the parent of PostgreSQL's other processes.
        let database: pid_t

        /// Waits until the servers have finished the requests of a load generator that has disconnected.
        func settle() async throws {
            let step = 0.1
            for _ in 0..<50 {
                let meter = ProcessorMeter(self)
                try await Task.sleep(for: .seconds(step))
                let usage = meter.usage()
                if usage.server + usage.database < 0.03 { return }
            }
        }
    }

    /// Shares of the machine's processor time; 1 means that all cores were busy all the time.
    struct Usage: Sendable {
        var server: Double
        var database: Double
        /// This process and its children: the load generator, or the loop that measures a limit.
        var generator: Double
        /// The processor time of all other processes on the machine.
        var others: Double
    }

    /// The processor time that each participant has used so far, in seconds.
    private struct Reading {
        let server: Double
        let database: Double
        let generator: Double
        let machine: Double

        init(_ processes: Processes) {
            server = processes.servers.reduce(0) { $0 + (ProcessStatus($1)?.processorTime ?? 0) }
            database = ProcessStatus.all.reduce(0) { sum, process in
                if process.id == processes.database {
                    return sum + process.processorTime + process.pastChildrenTime
                }
                return process.parent == processes.database ? sum + process.processorTime : sum
            }
            generator = Self.time(RUSAGE_SELF) + Self.time(RUSAGE_CHILDREN)
            machine = Self.busyTime()
        }

        private static func time(_ who: __rusage_who) -> Double {
            var usage = rusage()
            getrusage(__rusage_who_t(who.rawValue), &usage)
            func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
            return seconds(usage.ru_utime) + seconds(usage.ru_stime)
        }

        /// Returns the busy time of all cores, including time that the hypervisor took away ("steal").
        private static func busyTime() -> Double {
            let text = try? String(contentsOfFile: "/proc/stat", encoding: .utf8)
            let line = text?.split(separator: "\n").first { $0.hasPrefix("cpu ") }
            // The fields are user, nice, system, idle, iowait, irq, softirq and steal.
            let fields = line?.split(separator: " ").dropFirst().prefix(8).map { Double($0) ?? 0 } ?? []
            guard fields.count == 8 else { return 0 }
            return (fields.reduce(0, +) - fields[3] - fields[4]) / Double(sysconf(Int32(_SC_CLK_TCK)))
        }
    }

    private let processes: Processes
    private let start: Reading
    private let startedAt = ContinuousClock.now

    /// Starts a measurement.
    init(_ processes: Processes) {
        self.processes = processes
        start = Reading(processes)
    }

    /// Returns the shares since the start of the measurement.
    func usage() -> Usage {
        let capacity = (.now - startedAt) / .seconds(1) * Double(ProcessInfo.processInfo.activeProcessorCount)
        let end = Reading(processes)
        func share(_ time: (Reading) -> Double) -> Double { max(0, time(end) - time(start)) / capacity }
        let (server, database, generator) = (share(\.server), share(\.database), share(\.generator))
        let others = max(0, share(\.machine) - server - database - generator)
        return Usage(server: server, database: database, generator: generator, others: others)
    }
}
