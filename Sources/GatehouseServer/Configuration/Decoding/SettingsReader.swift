internal import Delivery
internal import Foundation
internal import Passwords
internal import Postgres
internal import ProviderKit

/// One pass over one configuration file: checks every value against its declaration and collects all problems.
///
/// Reading continues after a problem, so that an administrator sees all problems at once. A configuration is created
/// only if there are no problems.
final class SettingsReader {
    let installed: InstalledProviders
    /// Whether the current provider is off; its secrets are then not read.
    var ignoresSecrets = false
    /// Whether to skip software statements, for the command that creates one.
    let ignoresStatements: Bool
    /// Whether an administrator sent the settings; they must not refer to files and variables of this machine.
    private let isCandidate: Bool

    /// The paths of values that are never shown: secrets, and contents of files.
    private(set) var hidden: Set<String> = []
    /// The paths of values whose text names environment variables.
    private(set) var expanded: Set<String> = []

    private let file: String
    private let directory: String
    private let expansion: EnvironmentExpansion
    private var problems: [ConfigurationProblem] = []
    /// Settings that are valid but probably a mistake.
    private(set) var warnings: [ConfigurationProblem] = []
    /// The top-level sections with defaults for sections of the applications, by type.
    private var shared: [ObjectIdentifier: ConfigurationNode] = [:]
    /// The files and directories that secrets and templates were read from, with the section that they belong to.
    private(set) var files: [(section: Configuration.Section?, source: Configuration.Source, content: String)] = []

    /// Creates a reader of the file at a path; problems show that path, and relative paths in the file are relative to
    /// its directory.
    init(
        file: String, environment: [String: String], installed: InstalledProviders, ignoresStatements: Bool = false,
        isCandidate: Bool = false
    ) {
        self.isCandidate = isCandidate
        self.file = file
        self.ignoresStatements = ignoresStatements
        directory = file.lastIndex(of: "/").map { String(file[..<$0]) } ?? "."
        expansion = EnvironmentExpansion(environment: environment)
        self.installed = installed
    }

    /// The file's name without its directory.
    var fileName: String { file.split(separator: "/").last.map(String.init) ?? file }

    // MARK: - Mappings

    /// Reads a mapping by its declared keys, fills in defaults and refuses all other keys, unless `further` is the form
    /// of their values.
    ///
    /// `defaults` has values that were read earlier and take precedence over the declared defaults.
    /// - Returns: The keys without a problem; `nil` if the value is not a mapping.
    func table(
        _ node: ConfigurationNode, _ settings: [Setting], further: Form? = nil, defaults: ConfigurationNode? = nil,
        allowsMissing: Bool = false
    ) -> ConfigurationNode? {
        guard node.isMapping else { return refuse(node, expected: "a mapping") }
        var entries: [ConfigurationNode.Entry] = []
        for setting in settings {
            let place = node.place(of: setting.name)
            let standard = setting.derived?(node.with(.table(entries))) ?? setting.standard
            if node[setting.name] == nil, let value = defaults?[setting.name] {
                entries.append(.init(key: setting.name, value: value))
            } else if let value = node[setting.name]
                ?? standard.map({ ConfigurationNode(content: $0, place: place) })
            {
                setting.form.read(value, self).map { entries.append(.init(key: setting.name, value: $0)) }
            } else if setting.isRequired, !allowsMissing {
                report("is required", at: place)
            }
        }
        let known = settings.map(\.name)
        for entry in node.entries where !known.contains(entry.key) {
            if let further {
                guard !entry.value.isNull else { continue }
                further.read(entry.value, self).map { entries.append(.init(key: entry.key, value: $0)) }
                continue
            }
            report("unknown key, expected one of \(known.joined(separator: ", "))", at: entry.value.place)
        }
        return node.with(.table(entries))
    }

    func section<Section: SettingsSection>(
        _ node: ConfigurationNode, as type: Section.Type, isShared: Bool = false
    ) -> ConfigurationNode? {
        let keys = type.shorthand.map { key, text in
            ConfigurationNode.Entry(key: key, value: text.map { node.with(.scalar($0)) } ?? node)
        }
        let node = node.isMapping || keys.isEmpty ? node : node.with(.table(keys))
        let id = ObjectIdentifier(type)
        let (read, isClean) = checking { table(node, type.settings, further: type.furtherKeys, defaults: shared[id]) }
        guard let table = read else { return nil }
        if isShared, shared[id] == nil { shared[id] = table }
        guard isClean else { return table }
        do {
            try Section(from: SettingsDecoder(table)).validate()
        } catch {
            report(error, at: table)
        }
        return table
    }

    /// Runs the body, and returns its value and whether the body reported no problem.
    func checking<Value>(_ body: () -> Value) -> (value: Value, isClean: Bool) {
        let count = problems.count
        let value = body()
        return (value, problems.count == count)
    }

    // MARK: - Text and files

    /// The text with its environment variables replaced by their values.
    func expand(_ text: String, at place: Place) -> String? {
        guard !isCandidate || !text.contains("${") else {
            report("names a variable, which is not read here; send the value itself", at: place)
            return nil
        }
        if text.contains("${") { expanded.insert(place.path) }
        do {
            return try expansion.expand(text)
        } catch {
            report(error.reason, at: place)
            return nil
        }
    }

    /// The text of a scalar with its variables replaced; a problem is ignored, not reported.
    func peek(_ node: ConfigurationNode?) -> String? { node?.text.flatMap { try? expansion.expand($0) } }

    /// The text itself; for `file:PATH`, the content of that file.
    func secret(_ text: String, at place: Place) -> String? {
        guard text.hasPrefix("file:") else { return text }
        return content(ofFile: String(text.dropFirst("file:".count)), at: place)
    }

    /// The content of a file without the newline at its end.
    func content(ofFile path: String, at place: Place) -> String? {
        read(path, at: place) { path throws(BoundedFile.Failure) in
            let text = try BoundedFile.text(at: path)
            return text.last?.isNewline == true ? String(text.dropLast()) : text
        }
    }

    /// The bytes of a file in base64.
    func base64(ofFile path: String, at place: Place) -> String? {
        read(path, at: place) { path throws(BoundedFile.Failure) in
            Data(try BoundedFile.bytes(at: path)).base64EncodedString()
        }
    }

    private func read(
        _ path: String, at place: Place, _ read: (String) throws(BoundedFile.Failure) -> String
    ) -> String? {
        guard !isCandidate else {
            report("names a file, which is not read here; send its content", at: place)
            return nil
        }
        let source = Configuration.Source(path: absolute(path))
        hide(place)
        do {
            let content = try read(source.path)
            files.append((section(of: place), source, content))
            return content
        } catch {
            report("the file it names \(error.reason)", at: place)
            return nil
        }
    }

    /// The sorted names in a directory, which becomes one of the sources of the configuration.
    /// - Returns: An empty list if there is no such directory.
    func names(inDirectory path: String, at place: Place) -> [String] {
        let source = Configuration.Source(path: absolute(path))
        files.append((section(of: place), source, ""))
        return ((try? FileManager.default.contentsOfDirectory(atPath: source.path)) ?? []).sorted()
    }

    private func section(of place: Place) -> Configuration.Section? {
        Configuration.Section(key: String(place.path.prefix { $0 != "." && $0 != "[" }))
    }

    /// Keeps the value at a place from being shown to administrators.
    func hide(_ place: Place) { hidden.insert(place.path) }

    func absolute(_ path: String) -> String { path.hasPrefix("/") ? path : "\(directory)/\(path)" }

    // MARK: - Problems

    /// All problems, sorted by line; problems of the same line keep the order in which they were found.
    var error: ConfigurationError? {
        guard !problems.isEmpty else { return nil }
        let sorted = problems.enumerated().sorted {
            ($0.element.line ?? 0, $0.offset) < ($1.element.line ?? 0, $1.offset)
        }
        return ConfigurationError(sorted.map(\.element))
    }

    func report(_ reason: String, at place: Place) { problems.append(problem(reason, at: place)) }

    /// Whether a problem was reported below a path.
    func hasReported(below path: String) -> Bool { problems.contains { $0.path.hasPrefix(path + ".") } }

    func warn(_ reason: String, at place: Place) { warnings.append(problem(reason, at: place)) }

    private func problem(_ reason: String, at place: Place) -> ConfigurationProblem {
        ConfigurationProblem(file: file, line: place.line, path: place.path, reason: reason)
    }

    /// Reports that a value does not have the expected form, and returns `nil`.
    func refuse(_ node: ConfigurationNode, expected description: String) -> ConfigurationNode? {
        report("expected \(description)", at: node.place)
        return nil
    }

    /// Reports the error of a type that refused a value, at the setting that the error names.
    ///
    /// The reason is withheld if it contains one of the secrets. Secrets of up to three letters are ignored, because
    /// they occur in ordinary sentences.
    func report(_ error: any Error, at node: ConfigurationNode, withholding secrets: [String] = []) {
        let (reason, place) = Self.describe(error, at: node)
        let repeatsSecret = secrets.contains { $0.count > 3 && reason.contains($0) }
        report(repeatsSecret ? "is refused; the reason would repeat a secret" : reason, at: place)
    }

    private static func describe(_ error: any Error, at node: ConfigurationNode) -> (reason: String, place: Place) {
        switch error {
        case let error as SettingsError: (error.reason, node.place(of: error.setting))
        case let error as DecodingError: (error.reason, error.place ?? node.place)
        case PasswordsError.invalidSetting(let field, let reason): (reason, node.place(of: field.lastPart))
        case PostgresError.invalidConfiguration(let reason): ("is not a usable URL: \(reason)", node.place)
        case let error as UnreadableKeys: ("the keys \(error.reason)", node.place)
        case DeliveryError.invalidSetting(_, let reason): (reason, node.place)
        case DeliveryError.unusableTemplate(let language, let name):
            ("\(language)/\(name) is not a Mustache template", node.place)
        default: ("the provider refuses its settings", node.place)
        }
    }
}

extension String {
    /// The last component of a path: `memoryKiB` for `argon2.memoryKiB`.
    fileprivate var lastPart: String { split(separator: ".").last.map(String.init) ?? self }
}
