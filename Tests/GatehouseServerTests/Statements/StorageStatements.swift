import Foundation
import Postgres
import Storage
import Testing

/// Every SQL statement of `Storage`, read from its sources; those of `ExpiredRows`, which it composes, from itself.
struct StorageStatement: Sendable, CustomStringConvertible {
    let file: String
    let sql: String

    var description: String { "\(file): \(sql.prefix(80))" }

    static func all() throws -> [Self] {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../Sources/Storage")
            .standardizedFileURL
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
            .filter { $0.hasSuffix(".swift") }.sorted().map { folder.appending(path: $0) }
        let sources = try files.map { try String(contentsOf: $0, encoding: .utf8) }
        var parts: [String: String] = [:]
        for source in sources {
            for match in source.matches(of: /static let (\w+): StaticString =\s*"""\n([\s\S]*?)\n\s*"""/) {
                parts[String(match.output.1)] = String(match.output.2)
            }
        }
        let composed = ExpiredRows.all.map { Self(file: "ExpiredRows.swift", text: $0.text) }
        return try composed
            + zip(files, sources).flatMap { file, source in
                try statements(of: source, in: file.lastPathComponent, parts: parts)
            }
    }

    private init(file: String, text: String) {
        self.file = file
        sql = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    /// Finds the statements of a source; `parts` has the texts that several statements share, by constant.
    private static func statements(of source: String, in file: String, parts: [String: String]) throws -> [Self] {
        let calls = source.matches(
            of: /Statement\(\s*\.(?:read|write),((?:\s*(?:"""\n[\s\S]*?\n\s*"""|"[^"\n]*"|[\w.]+),?)+)\)/)
        // Fails if a statement is written in a form that the search does not recognise.
        try #require(calls.count == source.matches(of: /[^A-Za-z]Statement\(/).count, "\(file)")
        return try calls.map { call in
            let arguments = call.output.1.matches(of: /"""\n([\s\S]*?)\n\s*"""|"([^"\n]*)"|([\w.]+)/)
            let sql = try arguments.map { argument in
                guard let name = argument.output.3?.split(separator: ".").last else {
                    return String(argument.output.1 ?? argument.output.2 ?? "")
                }
                return try #require(parts[String(name)], "\(name) in \(file)")
            }
            return Self(file: file, text: sql.joined(separator: " "))
        }
    }
}
