import Foundation
import Testing

/// Tests that the example in `Plugins/README.md` is a working package.
struct OutsidePackageTests {
    private static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    private static let example = root.appending(path: "Tests/OutsidePackage")
    private static let isLongMode = ProcessInfo.processInfo.environment["GATEHOUSE_LONG_TESTS"] == "1"

    @Test(arguments: [
        "Package.swift", "Sources/HarbourProvider/HarbourProvider.swift", "Sources/HarbourServer/Main.swift",
        "Tests/HarbourProviderTests/HarbourConformanceTests.swift",
    ])
    func `the README shows the example's own code`(file: String) throws {
        let readme = try String(contentsOf: Self.root.appending(path: "Plugins/README.md"), encoding: .utf8)
        let code = try String(contentsOf: Self.example.appending(path: file), encoding: .utf8)
        #expect(readme.contains("```swift\n\(code)```"), "\(file) and the README differ")
    }

    @Test func `a provider takes at most 60 lines`() throws {
        let file = Self.example.appending(path: "Sources/HarbourProvider/HarbourProvider.swift")
        let lines = try String(contentsOf: file, encoding: .utf8).split(
            separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count < 61)
    }

    /// Builds the package outside of this checkout, and runs its conformance test and its server.
    @Test(.enabled(if: isLongMode, "builds everything a second time"))
    func `the example package builds a server with its provider`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "harbour-\(UUID().uuidString)")
        try FileManager.default.copyItem(at: Self.example, to: folder)
        defer { try? FileManager.default.removeItem(at: folder) }
        let manifest = folder.appending(path: "Package.swift")
        let text = try String(contentsOf: manifest, encoding: .utf8)
        try text.replacing("\"../..\"", with: "\"\(Self.root.path)\"")
            .write(to: manifest, atomically: true, encoding: .utf8)
        // Uses the dependency versions that this package was tested with, if `Package.resolved` exists.
        try? FileManager.default.copyItem(
            at: Self.root.appending(path: "Package.resolved"), to: folder.appending(path: "Package.resolved"))

        // The build directory is kept, so that the next run takes seconds.
        let scratch = Self.root.appending(path: ".build/outside-package").path
        let test = try await Self.run("/usr/bin/env", ["swift", "test", "--scratch-path", scratch], in: folder)
        #expect(test.status == 0, "\(test.output.suffix(4000))")

        let configuration = """
            database: { url: "postgresql://localhost/nobody" }
            secrets: { masterKey: "\(Data(repeating: 7, count: 32).base64EncodedString())" }
            applications:
              demo: { providers: { harbour: { baseURL: "https://harbour.example/", clientID: gatehouse } } }

            """
        try configuration.write(to: folder.appending(path: "gatehouse.yaml"), atomically: true, encoding: .utf8)
        let server = "\(scratch)/debug/HarbourServer"
        let refused = try await Self.run(server, ["config", "check", "--config", "gatehouse.yaml"], in: folder)
        #expect(refused.status == 1)
        #expect(refused.output.contains("providers.harbour.baseURL: ends with a slash"), "\(refused.output)")
    }

    private static func run(
        _ program: String, _ arguments: [String], in folder: URL
    ) async throws -> (status: Int32, output: String) {
        let process = Process()
        process.executableURL = URL(filePath: program)
        process.arguments = arguments
        process.currentDirectoryURL = folder
        // The settings of the outer test run must not apply to the inner one.
        process.environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("SWIFT_TESTING") }
        let log = folder.appending(path: "output.log")
        _ = FileManager.default.createFile(atPath: log.path, contents: nil)
        let output = try FileHandle(forWritingTo: log)
        process.standardOutput = output
        process.standardError = output
        let status: Int32 = try await withCheckedThrowingContinuation { ended in
            process.terminationHandler = { ended.resume(returning: $0.terminationStatus) }
            do {
                try process.run()
            } catch {
                process.terminationHandler = nil
                ended.resume(throwing: error)
            }
        }
        return (status, try String(contentsOf: log, encoding: .utf8))
    }
}
