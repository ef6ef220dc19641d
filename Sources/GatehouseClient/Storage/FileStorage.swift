public import Foundation

/// Stores a session in a file that only its owner can read (mode 0600).
///
/// The file has its own folder, which only the owner can enter (mode 0700). That protects the file between its atomic
/// replacement and the change of its mode.
public struct FileStorage: GatehouseClient.Storage {
    private let folder: URL

    /// Creates a storage in a folder; the folder is created if it is missing, and should contain nothing else.
    public init(folder: URL) { self.folder = folder }

    /// The file's path.
    public var place: String? { file.standardizedFileURL.path }

    /// The file of the session.
    public var file: URL { folder.appending(path: "session.json") }

    /// Reads the file.
    /// - Throws: An error of the file system other than that the file is missing.
    public func load() throws -> Data? {
        do {
            return try Data(contentsOf: file)
        } catch CocoaError.fileReadNoSuchFile {
            return nil
        }
    }

    /// Replaces the file atomically; if that fails, the previous file stays.
    /// - Throws: An error of the file system.
    public func save(_ data: Data) throws {
        let files = FileManager.default
        try files.createDirectory(at: folder, withIntermediateDirectories: true)
        try files.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder.path)
        try data.write(to: file, options: .atomic)
        try files.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
    }

    /// Removes the file.
    /// - Throws: An error of the file system other than that the file is missing.
    public func remove() throws {
        do {
            try FileManager.default.removeItem(at: file)
        } catch CocoaError.fileNoSuchFile {
            return
        }
    }
}
