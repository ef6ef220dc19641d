import Foundation
import Migrations
import Postgres
import Testing

/// The migrations that are compiled in match the files of the folder.
struct MigrationsTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../migrations").standardizedFileURL

    @Test func `every file is a migration, numbered from 1 without a gap`() throws {
        let files = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
            .filter { $0.hasSuffix(".sql") }.sorted()
        #expect(Migrations.all.map(\.version) == Array(1...files.count))
        for (file, migration) in zip(files, Migrations.all) {
            #expect(file.hasPrefix(String(format: "%04d_", migration.version)))
            let text = try String(contentsOf: Self.folder.appending(path: file), encoding: .utf8)
            #expect(migration.sql == text, "\(file)")
        }
    }
}
