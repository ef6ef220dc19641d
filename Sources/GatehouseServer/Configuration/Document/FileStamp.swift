import Foundation

// The compiler takes `stat` for this module's own, depending on what it compiles along with this file.
#if canImport(CDispatch)
    import CDispatch
#endif

/// What tells one state of a file from the next without reading it.
///
/// Symbolic links are followed, so that exchanging one, as Kubernetes does with a mounted ConfigMap, shows as another
/// inode.
struct FileStamp: Sendable, Equatable {
    private let device: UInt64
    private let inode: UInt64
    private let size: Int64
    private let seconds: Int
    private let nanoseconds: Int

    /// - Returns: `nil` for what isn't there, and for pipes and devices, which have no state to compare.
    init?(of path: String) {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
        size = Int64(status.st_size)
        #if canImport(Darwin)
            let modified = status.st_mtimespec
        #else
            let modified = status.st_mtim
        #endif
        seconds = modified.tv_sec
        nanoseconds = modified.tv_nsec
    }
}
