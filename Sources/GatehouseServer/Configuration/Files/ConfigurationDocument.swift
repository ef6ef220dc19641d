internal import Yams

/// Parses YAML into nodes, with limits on depth and on the number of values; an aliased value counts at each use.
struct ConfigurationDocument {
    /// Far more values than any real file has, and far fewer than exhaust memory.
    private static let maximumValues = 100_000
    private static let maximumDepth = 32

    private let reader: SettingsReader
    private var valuesLeft = Self.maximumValues

    /// - Returns: `nil` if the text is not YAML, after reporting the problem.
    static func parse(_ yaml: String, reporting reader: SettingsReader) -> ConfigurationNode? {
        let document = Place(line: nil, path: "")
        do {
            guard let root = try Yams.compose(yaml: yaml, .default, .default, .utf8) else {
                reader.report("the file is empty", at: document)
                return nil
            }
            var parser = Self(reader: reader)
            return parser.node(root, at: Place(line: root.line, path: ""), depth: 0)
        } catch let error as YamlError {
            reader.report(yaml: error)
        } catch {
            reader.report("not valid YAML", at: document)
        }
        return nil
    }

    private mutating func node(_ node: Node, at place: Place, depth: Int) -> ConfigurationNode? {
        guard depth <= Self.maximumDepth else {
            reader.report("nested more than \(Self.maximumDepth) levels deep", at: place)
            return nil
        }
        guard valuesLeft > 0 else { return nil }
        valuesLeft -= 1
        if valuesLeft == 0 {
            reader.report("more than \(Self.maximumValues) values, counting what aliases stand for", at: place)
            return nil
        }
        switch node {
        case .scalar(let scalar): return self.scalar(scalar, at: place)
        case .sequence(let sequence): return list(sequence, at: place, depth: depth)
        case .mapping(let mapping): return table(mapping, at: place, depth: depth)
        case .alias: return nil
        }
    }

    private func scalar(_ scalar: Node.Scalar, at place: Place) -> ConfigurationNode? {
        guard !scalar.string.utf8.contains(0) else {
            reader.report("holds a NUL character", at: place)
            return nil
        }
        let isNull = scalar.style == .plain && ["", "~", "null", "Null", "NULL"].contains(scalar.string)
        return ConfigurationNode(content: isNull ? .null : .scalar(scalar.string), place: place)
    }

    private mutating func list(_ sequence: Node.Sequence, at place: Place, depth: Int) -> ConfigurationNode? {
        var values: [ConfigurationNode] = []
        for (index, value) in sequence.enumerated() {
            guard let value = node(value, at: place.item(index, line: value.line), depth: depth + 1) else { continue }
            values.append(value)
        }
        return ConfigurationNode(content: .list(values), place: place)
    }

    private mutating func table(_ mapping: Node.Mapping, at place: Place, depth: Int) -> ConfigurationNode? {
        var entries: [ConfigurationNode.Entry] = []
        var keys: Set<String> = []
        for (key, value) in mapping {
            guard case .scalar(let scalar) = key, !scalar.string.utf8.contains(0) else {
                reader.report("a key has to be plain text", at: Place(line: key.line, path: place.path))
                continue
            }
            let keyPlace = place.key(scalar.string, line: key.line ?? value.line)
            guard keys.insert(scalar.string).inserted else {
                reader.report("is in this mapping already", at: keyPlace)
                continue
            }
            guard let value = node(value, at: keyPlace, depth: depth + 1) else { continue }
            entries.append(.init(key: scalar.string, value: value))
        }
        return ConfigurationNode(content: .table(entries), place: place)
    }
}

extension Node { fileprivate var line: Int? { mark?.line } }

extension SettingsReader {
    /// Reports libyaml's own message, which contains no values, and leaves out its excerpt of the file, which may show
    /// a secret.
    fileprivate func report(yaml error: YamlError) {
        switch error {
        case .scanner(_, let problem, let mark, let yaml), .parser(_, let problem, let mark, let yaml),
            .composer(_, let problem, let mark, let yaml):
            let lines = yaml.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
            // libyaml reports a missing end one line after the last.
            let line = min(mark.line, lines.count)
            let advice =
                if problem.hasSuffix("unexpected end of stream") {
                    "; a quote or bracket is not closed"
                } else if problem.contains("cannot start any token"), lines[line - 1].contains("\t") {
                    "; indent with spaces, not tabs"
                } else {
                    ""
                }
            report("not valid YAML: \(problem)\(advice)", at: Place(line: line, path: ""))
        case .reader(let problem, let offset, _, let yaml):
            let line = offset.map { yaml.prefix($0).count(where: \.isNewline) + 1 }
            report("not valid YAML: \(problem)", at: Place(line: line, path: ""))
        case .duplicatedKeysInMapping(let duplicates, let context):
            for key in duplicates {
                let place = Place(line: context.mark.line, path: "").key(key, line: context.mark.line)
                report("is more than once in the mapping that begins here", at: place)
            }
        default: report("not valid YAML", at: Place(line: nil, path: ""))
        }
    }
}
