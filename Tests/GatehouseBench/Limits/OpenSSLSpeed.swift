import Foundation

/// The result of `openssl speed`, if it is installed, for comparisons between machines.
enum OpenSSLSpeed {
    private static let program = "/usr/bin/openssl"

    static func rsa3072() async throws -> String? {
        let cores = ProcessInfo.processInfo.activeProcessorCount
        guard FileManager.default.isExecutableFile(atPath: program) else { return nil }
        let output = try await Child.output(of: [program, "speed", "-seconds", "1", "-multi", "\(cores)", "rsa3072"])
        // The line to parse: rsa 3072 bits 0.001500s 0.000030s    666.7  33333.3
        let line = output.split(separator: "\n").last { $0.hasPrefix("rsa 3072 bits") }
        guard let fields = line?.split(separator: " "), fields.count >= 6, let signs = Double(fields[5]) else {
            return nil
        }
        return "openssl speed, RSA 3072 bits, \(cores) processes: \(signs.formatted3) signatures a second"
    }
}
