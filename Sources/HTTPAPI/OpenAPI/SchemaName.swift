/// What a type is called among the document's components.
struct SchemaName: Sendable, Hashable {
    /// Tells types apart inside this process; not the same in the next one for a private type.
    let full: String
    /// `SessionListEntry` for `HTTPAPI.SessionList.Entry`; two types may share it.
    let short: String

    init(_ type: any Any.Type) {
        full = String(reflecting: type)
        short = Self.shorten(full)
    }

    /// A name chosen by hand; whoever chooses the same one means the same schema.
    init(_ name: String) {
        full = name
        short = name
    }

    /// Drops modules, the marks of private contexts, punctuation, and the word "Payload", which tells a client nothing.
    private static func shorten(_ full: String) -> String {
        let paths = full.replacing(/\(unknown context at \$[0-9a-f]+\)\./, with: "")
            .split { !($0.isLetter || $0.isNumber || $0 == "_" || $0 == ".") }
        return paths.flatMap { path in
            let parts = path.split(separator: ".")
            return parts.dropFirst(parts.count > 1 ? 1 : 0)
        }
        .map { part in part.hasSuffix("Payload") && part != "Payload" ? part.dropLast("Payload".count) : part }
        .joined()
    }
}
