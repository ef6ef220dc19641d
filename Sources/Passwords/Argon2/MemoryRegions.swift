import Glibc
import Synchronization

/// A pool of large memory regions in huge pages, which are kept for the next run instead of being unmapped.
///
/// With malloc, page faults on new 4 KiB pages take half the time of a run. A region is reused only for requests of the
/// same size. The number of regions never exceeds the largest number that were in use at the same time, which is one
/// for each hashing thread.
final class MemoryRegions: Sendable {
    /// The shared instance, which is global because libargon2's allocation callbacks have no context parameter.
    static let shared = MemoryRegions()

    private struct Region {
        let address: UInt
        let size: Int
        let usedAt: ContinuousClock.Instant
    }

    private struct State {
        /// The unused regions by last use; `take` uses the last one first, so that surplus regions expire.
        var idle: [Region] = []
        var inUse = 0
        var mostInUse = 0
    }

    private static let hugePage = 2 << 20

    private let state = Mutex(State())
    private let now: @Sendable () -> ContinuousClock.Instant

    init(now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) { self.now = now }
    var idleCount: Int { state.withLock(\.idle.count) }

    /// Takes a region, whose contents are undefined.
    /// - Returns: `nil` if the system has no memory.
    func take(_ size: Int) -> UnsafeMutableRawPointer? {
        guard let size = Self.wholePages(size) else { return nil }
        let address: UInt? = state.withLock { state in
            let address: UInt?
            if let index = state.idle.lastIndex(where: { $0.size == size }) {
                address = state.idle.remove(at: index).address
            } else {
                if state.inUse + state.idle.count >= state.mostInUse, !state.idle.isEmpty {
                    Self.unmap(state.idle.removeFirst())
                }
                address = Self.map(size)
            }
            guard address != nil else { return nil }
            state.inUse += 1
            state.mostInUse = max(state.mostInUse, state.inUse)
            return address
        }
        return address.flatMap(UnsafeMutableRawPointer.init(bitPattern:))
    }

    /// Returns a region to the pool; `size` is the size that was passed to `take`.
    func giveBack(_ memory: UnsafeMutableRawPointer, size: Int) {
        guard let size = Self.wholePages(size) else { return }
        let region = Region(address: UInt(bitPattern: memory), size: size, usedAt: now())
        state.withLock { state in
            state.inUse -= 1
            state.idle.append(region)
        }
    }

    func release(unusedFor age: Duration) {
        let limit = now() - age
        state.withLock { state in
            for region in state.idle where region.usedAt <= limit { Self.unmap(region) }
            state.idle.removeAll { $0.usedAt <= limit }
        }
    }

    private static func wholePages(_ size: Int) -> Int? {
        let (padded, overflow) = size.addingReportingOverflow(hugePage - 1)
        return overflow || size <= 0 ? nil : padded & ~(hugePage - 1)
    }

    /// Maps one huge page more than needed and unmaps both ends, because only aligned memory gets huge pages.
    private static func map(_ size: Int) -> UInt? {
        let (length, overflow) = size.addingReportingOverflow(hugePage)
        let flags = MAP_PRIVATE | MAP_ANONYMOUS
        guard !overflow, let base = mmap(nil, length, PROT_READ | PROT_WRITE, flags, -1, 0), base != MAP_FAILED else {
            return nil
        }
        let start = UInt(bitPattern: base)
        let aligned = (start + UInt(hugePage) - 1) & ~UInt(hugePage - 1)
        let head = Int(aligned - start)
        if head > 0 { munmap(base, head) }
        if hugePage > head { munmap(base + head + size, hugePage - head) }
        // These are hints only: without huge pages a run is slower. `MADV_DONTDUMP` keeps the region out of core dumps.
        madvise(base + head, size, MADV_HUGEPAGE)
        madvise(base + head, size, MADV_DONTDUMP)
        return aligned
    }

    private static func unmap(_ region: Region) {
        munmap(UnsafeMutableRawPointer(bitPattern: region.address), region.size)
    }
}
