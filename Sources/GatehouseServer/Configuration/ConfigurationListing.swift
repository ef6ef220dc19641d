internal import Administration
internal import Foundation
internal import ProviderKit

/// Lists the keys of a configuration that was read, with their values and sources, for administrators.
struct ConfigurationListing {
    private(set) var values: [ConfigurationValue] = []
    private let hidden: Set<String>
    private let expanded: Set<String>
    /// The paths of all keys in the file.
    private var written: Set<String> = []

    /// The value that is shown instead of a hidden one.
    private static let set = JSONValue.string("set")

    /// `root` has the checked values with all defaults, and `document` what the file has.
    init(of root: ConfigurationNode, in document: ConfigurationNode, reader: SettingsReader) {
        (hidden, expanded) = (reader.hidden, reader.expanded)
        note(document)
        list(root, at: "")
    }

    private mutating func note(_ node: ConfigurationNode) {
        if !node.place.path.isEmpty { written.insert(node.place.path) }
        for child in node.items + node.entries.map(\.value) { note(child) }
    }

    private mutating func list(_ node: ConfigurationNode, at path: String) {
        let isPlain = node.items.allSatisfy { $0.text != nil }
        switch node.content {
        case .table(let entries) where !entries.isEmpty && !hidden.contains(node.place.path):
            for entry in entries {
                list(entry.value, at: Place(line: nil, path: path).key(entry.key, line: nil).path)
            }
        case .list(let items) where !isPlain:
            for (index, item) in items.enumerated() {
                list(item, at: Place(line: nil, path: path).item(index, line: nil).path)
            }
        default:
            guard !path.isEmpty else { return }
            values.append(
                ConfigurationValue(
                    key: path, value: value(of: node), source: source(of: node), application: path.configuredApplication
                ))
        }
    }

    private func value(of node: ConfigurationNode) -> JSONValue {
        guard !hidden.contains(node.place.path), !node.items.contains(where: { hidden.contains($0.place.path) }) else {
            return Self.set
        }
        return switch node.content {
        case .null: .null
        case .scalar(let text): text.mayHoldLogin(in: node.place.path) ? Self.set : .string(text)
        case .list(let items): .array(items.map(value))
        case .table: .object([:])
        }
    }

    /// A default has the place that its key would have in the file; a value that a shorthand or a shared section sets has
    /// the place of that.
    private func source(of node: ConfigurationNode) -> ConfigurationValue.Source {
        let path = node.place.path
        guard written.contains(path) else { return .standard }
        let isExpanded = expanded.contains(path) || node.items.contains { expanded.contains($0.place.path) }
        return isExpanded ? .environment : .file(line: node.place.line)
    }
}

extension String {
    /// The application that a key belongs to; `nil` for keys of all applications.
    var configuredApplication: String? {
        let parts = utf8.split(separator: UInt8(ascii: "."), maxSplits: 2)
        guard parts.count > 1, parts[0].elementsEqual("applications".utf8) else { return nil }
        return String(Substring(parts[1]))
    }

    /// Whether the text is a URL with a user, or that of a webhook, whose path is often a secret.
    fileprivate func mayHoldLogin(in path: String) -> Bool {
        guard contains("://"), let url = URLComponents(string: self) else { return false }
        return url.user != nil || url.password != nil || path.utf8.starts(with: "webhooks[".utf8)
    }
}

extension ConfigurationValue {
    /// Whether a reload of the file changes the value.
    var isReloadable: Bool {
        let section = String(Substring(key.utf8.prefix { $0 != UInt8(ascii: ".") && $0 != UInt8(ascii: "[") }))
        return Configuration.Section(key: section)?.isReloadable ?? true
    }
}
