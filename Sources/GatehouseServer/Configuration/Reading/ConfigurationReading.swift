import Foundation

/// One pass over one file: what it may look at, and what it has found wrong so far.
///
/// Readers report and go on with a default or with nothing, so that a file's problems all come out at once; a
/// configuration is only made of a pass without any.
final class ConfigurationReading {
    private let file: String
    private let directory: String
    private let expansion: EnvironmentExpansion
    private var problems: [ConfigurationProblem] = []
    /// Every file a secret was read from, with the section that it belongs to.
    private(set) var secretFiles: [SecretFile] = []

    struct SecretFile {
        let section: Configuration.Section?
        let source: Configuration.Source
        let content: String
    }

    /// Problems show the file by its path as given; relative paths in it are relative to the directory.
    init(file: String, directory: String, environment: [String: String]) {
        self.file = file
        self.directory = directory
        expansion = EnvironmentExpansion(environment: environment)
    }

    func report(_ reason: String, at place: Place) {
        problems.append(ConfigurationProblem(file: file, line: place.line, path: place.path, reason: reason))
    }

    /// What was reported, by line; problems of one line stay in the order in which they were found.
    var error: ConfigurationError? {
        guard !problems.isEmpty else { return nil }
        let sorted = problems.enumerated().sorted {
            ($0.element.line ?? 0, $0.offset) < ($1.element.line ?? 0, $1.offset)
        }
        return ConfigurationError(sorted.map(\.element))
    }

    /// The text with its environment variables filled in.
    func expand(_ text: String, at place: Place) -> String? {
        do {
            return try expansion.expand(text)
        } catch {
            report(error.reason, at: place)
            return nil
        }
    }

    /// The text itself, or what stands in the file that it names as `file:PATH`.
    func secret(_ text: String, at place: Place) -> String? {
        guard text.hasPrefix("file:") else { return text }
        return content(ofFile: String(text.dropFirst("file:".count)), at: place)
    }

    /// A file's content without the newline at its end.
    func content(ofFile path: String, at place: Place) -> String? {
        let path = absolute(path)
        let stamp = FileStamp(of: path)
        do {
            var content = try BoundedFile.text(at: path)
            if content.last?.isNewline == true { content.removeLast() }
            let source = Configuration.Source(path: path, stamp: stamp)
            secretFiles.append(SecretFile(section: .init(holding: place), source: source, content: content))
            return content
        } catch {
            report("the file it names \(error.reason)", at: place)
            return nil
        }
    }

    func absolute(_ path: String) -> String {
        path.hasPrefix("/") ? path : "\(directory)/\(path)"
    }
}

extension Configuration.Section {
    fileprivate init?(holding place: Place) {
        self.init(key: String(place.path.prefix { $0 != "." && $0 != "[" }))
    }
}
