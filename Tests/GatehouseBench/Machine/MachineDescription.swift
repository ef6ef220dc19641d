import Foundation

/// The machine that a measurement runs on.
struct MachineDescription: Sendable {
    let processor: String
    let cores: Int
    let gibibytes: Double
    let system: String
    /// The load averages over 1, 5 and 15 minutes before the measurement.
    let load: [Double]

    static func current() -> MachineDescription {
        let processInfo = ProcessInfo.processInfo
        return MachineDescription(
            processor: value(of: "model name", in: "/proc/cpuinfo") ?? "unknown processor",
            cores: processInfo.activeProcessorCount,
            gibibytes: Double(processInfo.physicalMemory) / Double(1 << 30),
            system: "\(value(of: "PRETTY_NAME", in: "/etc/os-release") ?? "Linux"), Linux \(kernel)",
            load: load())
    }

    static func load() -> [Double] {
        let text = try? String(contentsOfFile: "/proc/loadavg", encoding: .utf8)
        return text?.split(separator: " ").prefix(3).compactMap { Double($0) } ?? []
    }

    private static var kernel: String {
        let text = try? String(contentsOfFile: "/proc/sys/kernel/osrelease", encoding: .utf8)
        return text?.trimmingCharacters(in: .whitespacesAndNewlines) ?? "?"
    }

    /// Returns the value in the first line that sets `name` with `:` or `=`.
    private static func value(of name: String, in file: String) -> String? {
        let text = try? String(contentsOfFile: file, encoding: .utf8)
        let line = text?.split(separator: "\n").first { $0.hasPrefix(name) }
        let value = line?.split(maxSplits: 1) { $0 == ":" || $0 == "=" }.last
        return value?.trimmingCharacters(in: CharacterSet(charactersIn: " \"\t"))
    }
}
