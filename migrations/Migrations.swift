package import Postgres

/// Every migration, oldest first, compiled in so that the server carries its own schema.
///
/// To add one, add a file `NNNN_name.sql` with the next number to this folder. Migrations are forward only; each runs in
/// one transaction and is safe while the previous version of the server still serves. A released file is never edited,
/// because the database remembers its checksum. If Citus refuses a file, a text with exactly the same effect may replace
/// it; it keeps a line `-- Replaces <SHA-256>` for each earlier text (`Migration.isRecorded`).
package enum Migrations {
    package static let all: [Migration] = EmbeddedFiles.all.compactMap { path, text -> Migration? in
        guard path.hasSuffix(".sql") else { return nil }
        let name = path.split(separator: "/").last?.split(separator: ".").first
        let parts = name?.split(separator: "_") ?? []
        guard let number = parts.first, let version = Int(number) else { return nil }
        return Migration(version: version, name: parts.dropFirst().joined(separator: " "), sql: text)
    }.sorted { $0.version < $1.version }
}
