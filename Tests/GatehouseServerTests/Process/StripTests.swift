import Foundation
import Testing

/// `deploy/strip`, on a copy of the built program.
@Suite struct StripTests {
    private static let script = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../deploy/strip").standardizedFileURL.path

    @Test func aStrippedProgramRunsAndItsSymbolsAreBesideIt() async throws {
        try await ProcessDirectory.with { directory in
            let program = directory.path("gatehouse")
            try FileManager.default.copyItem(atPath: GatehouseProcess.executable, toPath: program)
            let whole = try size(of: program)
            // A second run leaves the file of debug symbols unchanged.
            var sizes: [Int] = []
            for _ in 0..<2 {
                let outcome = try await GatehouseProcess.run([program], program: Self.script, in: directory)
                #expect(outcome.status == 0, "\(outcome.errorLines)")
                #expect(try size(of: program) < whole)
                sizes.append(try size(of: program + ".debug"))
            }
            #expect(sizes[0] > whole / 4 && sizes[1] == sizes[0])
            let help = try await GatehouseProcess.run(["--help"], program: program, in: directory)
            #expect(help.status == 0 && help.output.contains("gatehouse"))
        }
    }

    private func size(of path: String) throws -> Int {
        try #require(FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
    }
}
