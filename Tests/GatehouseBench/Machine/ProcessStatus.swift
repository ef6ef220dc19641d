import Foundation

/// The status of a process (`proc(5)`).
struct ProcessStatus: Sendable {
    let id: pid_t
    let parent: pid_t
    /// The processor time in user and system mode, in seconds.
    let processorTime: Double
    /// The processor time of terminated children, in seconds.
    let pastChildrenTime: Double

    private static let ticksPerSecond = Double(sysconf(Int32(_SC_CLK_TCK)))

    /// Reads the status of a process; `nil` if the process does not exist.
    init?(_ id: pid_t) {
        guard let text = try? String(contentsOfFile: "/proc/\(id)/stat", encoding: .utf8),
            let end = text.lastIndex(of: ")")
        else { return nil }
        // The fields after the program's name, which may contain any character, begin with the state and the parent.
        let fields = text[text.index(after: end)...].split(separator: " ").map { Double($0) ?? 0 }
        guard fields.count > 14 else { return nil }
        self.id = id
        parent = pid_t(fields[1])
        processorTime = (fields[11] + fields[12]) / Self.ticksPerSecond
        pastChildrenTime = (fields[13] + fields[14]) / Self.ticksPerSecond
    }

    static var all: [ProcessStatus] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.compactMap { pid_t($0) }.compactMap(ProcessStatus.init)
    }
}

extension ProcessStatus {
    /// Returns the resident memory, including huge pages, in units of 10⁶ bytes.
    static func residentMegabytes(of id: pid_t) throws -> Double {
        guard let text = try? String(contentsOfFile: "/proc/\(id)/status", encoding: .utf8),
            let kibibytes = text.split(separator: "\n").first(where: { $0.hasPrefix("VmRSS:") })?
                .split(separator: " ").dropFirst().first.flatMap({ Double($0) })
        else { throw BenchError("process \(id) can't be seen") }
        return kibibytes * 1024 / 1e6
    }
}
