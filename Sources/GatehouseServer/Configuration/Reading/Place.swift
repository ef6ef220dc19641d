/// Where something stands in the file.
struct Place: Sendable, Equatable {
    let line: Int?
    let path: String

    /// A key that isn't one plain word is quoted and cut short, so that a path stays readable whatever a file holds.
    func key(_ key: String, line: Int?) -> Place {
        let name = Self.isWord(key) ? key : "\"\(key.prefix(64))\""
        return Place(line: line ?? self.line, path: path.isEmpty ? name : "\(path).\(name)")
    }

    private static func isWord(_ key: String) -> Bool {
        (1...64).contains(key.utf8.count)
            && key.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_" || $0 == "-") }
    }

    func item(_ index: Int, line: Int?) -> Place {
        Place(line: line ?? self.line, path: "\(path)[\(index)]")
    }
}
