public import Foundation

/// Stores a session in a file that only its owner can read (mode 0600).
///
/// The file is replaced as a whole; a failed save leaves the previous one.
public struct FileStorage: GatehouseClient.Storage {
    private let url: URL

    /// Creates a storage at a file, whose folder is created if it is missing.
    public init(url: URL) { self.url = url }

    /// The file's path.
    public var place: String? { url.standardizedFileURL.path }

    /// Reads the file.
    /// - Throws: An error of the file system other than that the file is missing.
    public func load() throws -> Data? {
        do {
            return try Data(contentsOf: url)
        } catch CocoaError.fileReadNoSuchFile {
            return nil
        }
    }

    /// Writes a new file in a folder of its own, which only the owner can enter, and moves it to its place.
    /// - Throws: An error of the file system.
    public func save(_ data: Data) throws {
        let files = FileManager.default
        let parent = url.deletingLastPathComponent()
        try files.createDirectory(at: parent, withIntermediateDirectories: true, attributes: Self.ownerFolder)
        let folder = parent.appending(path: ".\(UUID().uuidString)", directoryHint: .isDirectory)
        try files.createDirectory(at: folder, withIntermediateDirectories: false, attributes: Self.ownerFolder)
        defer { try? files.removeItem(at: folder) }
        let file = folder.appending(path: url.lastPathComponent)
        try data.write(to: file)
        try files.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        _ = try files.replaceItemAt(url, withItemAt: file)
    }

    /// Removes the file.
    /// - Throws: An error of the file system other than that the file is missing.
    public func remove() throws {
        do {
            try FileManager.default.removeItem(at: url)
        } catch CocoaError.fileNoSuchFile {
            return
        }
    }

    private static var ownerFolder: [FileAttributeKey: Any] { [.posixPermissions: 0o700] }
}
