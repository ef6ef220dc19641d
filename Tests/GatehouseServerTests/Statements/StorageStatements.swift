import Foundation
import Testing

/// Every SQL statement of `Storage`, read from its sources.
struct StorageStatement: Sendable, CustomStringConvertible {
    let file: String
    let sql: String

    var description: String { "\(file): \(sql.prefix(80))" }

    static func all() throws -> [Self] {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../Sources/Storage")
            .standardizedFileURL
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
        return try files.filter { $0.hasSuffix(".swift") }.sorted().map { folder.appending(path: $0) }.flatMap { file in
            try statements(of: String(contentsOf: file, encoding: .utf8), in: file.lastPathComponent)
        }
    }

    private static func statements(of source: String, in file: String) throws -> [Self] {
        let literals = source.matches(
            of: /Statement\(\s*\.(?:read|write),\s*(?:"""\n([\s\S]*?)\n\s*"""|"([^"\n]*)")/)
        // Fails if a statement is written in a form that the search does not recognise.
        try #require(literals.count == source.matches(of: /[^A-Za-z]Statement\(/).count, "\(file)")
        return literals.map { match in
            let sql = match.output.1 ?? match.output.2 ?? ""
            return Self(file: file, sql: sql.split(whereSeparator: \.isWhitespace).joined(separator: " "))
        }
    }
}
