import Foundation
import Yams

/// From YAML text to nodes, within bounds: what a text expands to through aliases counts, not what it weighs.
struct ConfigurationDocument {
    /// Far beyond any real file, and far below what exhausts memory.
    static let maximumValues = 100_000
    static let maximumDepth = 32

    private let reading: ConfigurationReading
    private var valuesLeft = Self.maximumValues

    /// - Returns: `nil` when something was reported instead.
    static func parse(_ yaml: String, reporting reading: ConfigurationReading) -> ConfigurationNode? {
        guard let root = compose(yaml, reporting: reading) else { return nil }
        var document = ConfigurationDocument(reading: reading)
        return document.node(root, at: Place(line: root.line, path: ""), depth: 0)
    }

    private init(reading: ConfigurationReading) {
        self.reading = reading
    }

    private static func compose(_ yaml: String, reporting reading: ConfigurationReading) -> Node? {
        do {
            if let root = try Yams.compose(yaml: yaml, .default, .default, .utf8) { return root }
            reading.report("the file is empty", at: Place(line: nil, path: ""))
        } catch let error as YamlError {
            reading.report(yaml: error)
        } catch {
            reading.report("not valid YAML", at: Place(line: nil, path: ""))
        }
        return nil
    }

    private mutating func node(_ node: Node, at place: Place, depth: Int) -> ConfigurationNode? {
        guard depth <= Self.maximumDepth else {
            reading.report("nested more than \(Self.maximumDepth) levels deep", at: place)
            return nil
        }
        guard valuesLeft > 0 else { return nil }
        valuesLeft -= 1
        if valuesLeft == 0 {
            reading.report("more than \(Self.maximumValues) values, counting what aliases stand for", at: place)
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
            reading.report("holds a NUL character", at: place)
            return nil
        }
        let isNull = scalar.style == .plain && ["", "~", "null", "Null", "NULL"].contains(scalar.string)
        return ConfigurationNode(line: place.line ?? 1, content: isNull ? .null : .scalar(scalar.string))
    }

    private mutating func list(_ sequence: Node.Sequence, at place: Place, depth: Int) -> ConfigurationNode? {
        var values: [ConfigurationNode] = []
        for (index, value) in sequence.enumerated() {
            guard let value = node(value, at: place.item(index, line: value.line), depth: depth + 1) else { continue }
            values.append(value)
        }
        return ConfigurationNode(line: place.line ?? 1, content: .list(values))
    }

    private mutating func table(_ mapping: Node.Mapping, at place: Place, depth: Int) -> ConfigurationNode? {
        var entries: [ConfigurationNode.Entry] = []
        var keys: Set<String> = []
        for (key, value) in mapping {
            guard case .scalar(let scalar) = key, !scalar.string.utf8.contains(0) else {
                reading.report("a key has to be plain text", at: Place(line: key.line, path: place.path))
                continue
            }
            guard keys.insert(scalar.string).inserted else {
                reading.report("stands here a second time", at: place.key(scalar.string, line: key.line))
                continue
            }
            let valuePlace = place.key(scalar.string, line: value.line)
            guard let value = node(value, at: valuePlace, depth: depth + 1) else { continue }
            entries.append(.init(key: scalar.string, line: key.line ?? value.line, value: value))
        }
        return ConfigurationNode(line: place.line ?? 1, content: .table(entries))
    }
}

extension Node {
    fileprivate var line: Int? { mark?.line }
}

extension ConfigurationReading {
    /// libyaml's own words, which name no values; never its snippet of the file, which may show a secret.
    fileprivate func report(yaml error: YamlError) {
        switch error {
        case .scanner(_, let problem, let mark, let yaml), .parser(_, let problem, let mark, let yaml),
            .composer(_, let problem, let mark, let yaml):
            // What misses its end is missed one line after the last.
            let line = min(mark.line, yaml.split(separator: "\n", omittingEmptySubsequences: false).count)
            report("not valid YAML: \(problem)", at: Place(line: line, path: ""))
        case .reader(let problem, let offset, _, let yaml):
            let line = offset.map { yaml.prefix($0).count(where: \.isNewline) + 1 }
            report("not valid YAML: \(problem)", at: Place(line: line, path: ""))
        case .duplicatedKeysInMapping(let duplicates, let context):
            for key in duplicates {
                let place = Place(line: context.mark.line, path: "").key(key, line: context.mark.line)
                report("stands here and a second time in the same mapping", at: place)
            }
        default:
            report("not valid YAML", at: Place(line: nil, path: ""))
        }
    }
}
