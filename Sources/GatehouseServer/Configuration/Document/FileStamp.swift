internal import Foundation

/// What tells one state of a file from the next without reading it.
///
/// Symbolic links are followed, so that exchanging one, as Kubernetes does with a mounted ConfigMap, shows as another
/// inode.
struct FileStamp: Sendable, Equatable {
    private let device: Int
    private let inode: Int
    private let size: Int
    private let modifiedAt: Date

    /// - Returns: `nil` for what isn't there, and for pipes and devices, which have no state to compare.
    init?(of path: String) {
        // Not `stat(2)`: whose module it comes from depends on what the compiler reads along with this file.
        let target = URL(filePath: path).resolvingSymlinksInPath().path
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: target),
            attributes[.type] as? FileAttributeType == .typeRegular,
            let device = attributes[.systemNumber] as? Int, let inode = attributes[.systemFileNumber] as? Int,
            let size = attributes[.size] as? Int, let modifiedAt = attributes[.modificationDate] as? Date
        else { return nil }
        (self.device, self.inode, self.size, self.modifiedAt) = (device, inode, size, modifiedAt)
    }
}
