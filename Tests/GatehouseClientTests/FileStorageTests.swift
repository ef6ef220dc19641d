import Foundation
import Testing

@testable import GatehouseClient

/// The session's file on systems without a Keychain.
struct FileStorageTests {
    private static func mode(of path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test func `only the owner reads the file, also after it was replaced`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "gatehouse-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let storage = FileStorage(folder: folder)
        #expect(try storage.load() == nil)
        for text in ["first", "second"] {
            try storage.save(Data(text.utf8))
            #expect(try storage.load() == Data(text.utf8))
            #expect(try Self.mode(of: storage.file.path) == 0o600)
            #expect(try Self.mode(of: folder.path) == 0o700)
        }
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(files == ["session.json"])
        try storage.remove()
        try storage.remove()
        #expect(try storage.load() == nil)
        // Two values for one folder are one place, so that their clients share a session.
        #expect(storage.place == FileStorage(folder: folder.appending(path: "../\(folder.lastPathComponent)")).place)
    }
}
