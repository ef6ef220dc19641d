import Foundation
import Testing

/// Compiles the program of `docs/clients/swift.md` with the sources of the library, and runs it.
///
/// The library is compiled on its own, so that the test fails if it needs anything but Foundation.
struct SwiftGuideTests {
    private static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    private static let strictness = [
        "-swift-version", "6", "-warnings-as-errors", "-Onone", "-parse-as-library",
        "-enable-upcoming-feature", "ExistentialAny", "-enable-upcoming-feature", "MemberImportVisibility",
        "-enable-upcoming-feature", "InternalImportsByDefault",
    ]

    private static func sources() -> [String] {
        let folder = root.appending(path: "Sources/GatehouseClient")
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        return (files?.compactMap { $0 as? URL } ?? []).filter { $0.pathExtension == "swift" }.map(\.path)
    }

    @Test func `the guide's program compiles with the library alone, and runs`() async throws {
        let guide = try String(contentsOf: Self.root.appending(path: "docs/clients/swift.md"), encoding: .utf8)
        let blocks = guide.matches(of: /(?s)```swift\n(.*?)```/).map { String($0.output.1) }
        #expect(blocks.count > 8)
        try await ProcessDirectory.with { directory in
            try directory.write(blocks.joined(separator: "\n"), to: "example.swift")
            let library = ["-emit-library", "-static", "-emit-module", "-module-name", "GatehouseClient"]
            try await compile(library + ["-o", "libGatehouseClient.a"] + Self.sources(), in: directory)
            // A static library does not say what it needs itself.
            let libraries = ["-lGatehouseClient", "-lFoundationNetworking"]
            try await compile(["example.swift", "-I.", "-L.", "-o", "example"] + libraries, in: directory)
            try await TestServer.with { server in
                let environment = ["XDG_DATA_HOME": directory.path("data"), "HOME": directory.url.path]
                let outcome = try await GatehouseProcess.run(
                    [server.url], program: directory.path("example"), in: directory, environment: environment)
                #expect(outcome.status == 0, "\(outcome.errorLines)")
                let lines = outcome.output.split(separator: "\n")
                #expect(lines.contains("1 session") && lines.contains("the app's server answers 200"), "\(lines)")
                #expect(lines.contains("the account is scheduled"), "\(lines)")
                let stored = FileManager.default.enumerator(atPath: directory.path("data"))
                let files = (stored?.compactMap { $0 as? String } ?? []).filter { $0.hasSuffix("session.json") }
                #expect(files.isEmpty, "deletion has signed out")
            }
        }
    }

    private func compile(_ arguments: [String], in directory: ProcessDirectory) async throws {
        let outcome = try await GatehouseProcess.run(
            ["swiftc"] + Self.strictness + arguments, program: "/usr/bin/env", in: directory)
        try #require(outcome.status == 0, "\(outcome.output.suffix(2000)) \(outcome.errorLines.suffix(40))")
    }
}
