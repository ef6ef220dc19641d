import Testing

@testable import Passwords

@Suite struct MemoryRegionsTests {
    private let clock = ManualClock()
    private let regions: MemoryRegions

    init() {
        regions = MemoryRegions { [clock] in clock.now }
    }

    @Test func `gives the same region again`() throws {
        let first = try #require(regions.take(3 << 20))
        regions.giveBack(first, size: 3 << 20)
        #expect(regions.idleCount == 1)
        let second = try #require(regions.take(3 << 20))
        #expect(second == first)
        #expect(regions.idleCount == 0)
        regions.giveBack(second, size: 3 << 20)
        regions.release(unusedFor: .zero)
    }

    @Test(arguments: [1, 4096, 2 << 20, (2 << 20) + 1, 64 << 20])
    func `is aligned to huge pages and writable to its last byte`(size: Int) throws {
        let region = try #require(regions.take(size))
        #expect(UInt(bitPattern: region) % (2 << 20) == 0)
        region.storeBytes(of: 1, as: UInt8.self)
        region.storeBytes(of: 1, toByteOffset: size - 1, as: UInt8.self)
        regions.giveBack(region, size: size)
        regions.release(unusedFor: .zero)
        #expect(regions.idleCount == 0)
    }

    @Test func `keeps no more regions than were in use at once`() throws {
        for size in [2 << 20, 4 << 20, 6 << 20] {
            let region = try #require(regions.take(size))
            regions.giveBack(region, size: size)
            #expect(regions.idleCount == 1)
        }
        regions.release(unusedFor: .zero)
    }

    @Test func `keeps two sizes at hand once two were in use at once`() throws {
        let small = try #require(regions.take(2 << 20))
        let large = try #require(regions.take(4 << 20))
        regions.giveBack(small, size: 2 << 20)
        regions.giveBack(large, size: 4 << 20)
        for _ in 1...3 {
            #expect(regions.take(2 << 20) == small)
            #expect(regions.take(4 << 20) == large)
            regions.giveBack(small, size: 2 << 20)
            regions.giveBack(large, size: 4 << 20)
        }
        regions.release(unusedFor: .zero)
    }

    @Test func `releases only regions that were unused for a while`() throws {
        let first = try #require(regions.take(2 << 20))
        let second = try #require(regions.take(2 << 20))
        regions.giveBack(first, size: 2 << 20)
        regions.giveBack(second, size: 2 << 20)
        // Runs that follow each other use the same region, while the other one stays unused.
        for _ in 1...2 {
            clock.advance(by: .seconds(10))
            regions.giveBack(try #require(regions.take(2 << 20)), size: 2 << 20)
        }
        clock.advance(by: .seconds(10))
        regions.release(unusedFor: .seconds(30))
        #expect(regions.idleCount == 1)
        clock.advance(by: .seconds(20))
        regions.release(unusedFor: .seconds(30))
        #expect(regions.idleCount == 0)
    }

    @Test(arguments: [-1, 0, 1 << 50, .max])
    func `has nothing for an impossible size`(size: Int) {
        #expect(regions.take(size) == nil)
        #expect(regions.idleCount == 0)
    }
}
