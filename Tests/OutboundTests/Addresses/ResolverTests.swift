import Dispatch
import NIOPosix
import ProviderKit
import Synchronization
import Testing

@testable import Outbound

struct ResolverTests {
    private final class Counter: Sendable {
        let count = Atomic(0)
    }

    @Test func asksOnceForManyAndRemembers() async throws {
        let counter = Counter()
        let resolver = Resolver(lifetime: .seconds(30), loops: MultiThreadedEventLoopGroup.singleton) { _ in
            counter.count.add(1, ordering: .relaxed)
            return [IPAddress("192.0.2.1")].compactMap { $0 }
        }
        await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<100 {
                group.addTask { _ = try await resolver.addresses(of: "a.example", within: .seconds(3)) }
            }
        }
        _ = try await resolver.addresses(of: "a.example", within: .seconds(3))
        #expect(counter.count.load(ordering: .relaxed) == 1)
        resolver.close()
    }

    @Test func forgetsAfterItsLifetime() async throws {
        let counter = Counter()
        let resolver = Resolver(lifetime: .zero, loops: MultiThreadedEventLoopGroup.singleton) { _ in
            counter.count.add(1, ordering: .relaxed)
            return [IPAddress("192.0.2.1")].compactMap { $0 }
        }
        _ = try await resolver.addresses(of: "a.example", within: .seconds(3))
        _ = try await resolver.addresses(of: "a.example", within: .seconds(3))
        #expect(counter.count.load(ordering: .relaxed) == 2)
        resolver.close()
    }

    /// A lookup that hangs is abandoned at its deadline, and does not delay the lookup of another host.
    @Test func waitsNoLongerThanItMay() async throws {
        let release = DispatchSemaphore(value: 0)
        let resolver = Resolver(lifetime: .seconds(30), loops: MultiThreadedEventLoopGroup.singleton) { host in
            if host == "slow.example" { release.wait() }
            return [IPAddress("192.0.2.1")].compactMap { $0 }
        }
        for _ in 0..<20 {
            await #expect(throws: OutboundFailure.unresolvable) {
                try await resolver.addresses(of: "slow.example", within: .milliseconds(5))
            }
        }
        #expect(try await resolver.addresses(of: "fast.example", within: .seconds(3)).count == 1)
        release.signal()
        resolver.close()
    }

    @Test func aLookupThatNobodyWaitsForIsSkipped() async throws {
        let release = DispatchSemaphore(value: 0)
        let started = Mutex<[String]>([])
        let resolver = Resolver(lifetime: .seconds(30), loops: MultiThreadedEventLoopGroup.singleton) { host in
            started.withLock { $0.append(host) }
            if host.hasPrefix("slow") { release.wait() }
            return [IPAddress("192.0.2.1")].compactMap { $0 }
        }
        await withTaskGroup(of: Void.self) { group in
            for number in 1...8 {
                group.addTask { _ = try? await resolver.addresses(of: "slow\(number)", within: .seconds(60)) }
            }
            while started.withLock({ $0.count }) < 8 { await Task.yield() }
            await #expect(throws: OutboundFailure.unresolvable) {
                try await resolver.addresses(of: "late.example", within: .milliseconds(5))
            }
            for _ in 1...8 { release.signal() }
        }
        _ = try await resolver.addresses(of: "next.example", within: .seconds(60))
        #expect(!started.withLock { $0.contains("late.example") })
        resolver.close()
    }

    @Test(arguments: ["127.1", "2130706433", "0x7f000001", "0177.0.0.1", "127.0.0.1", "localhost"])
    func readsNumbersAsTheSystemDoes(_ host: String) async throws {
        let resolver = Resolver(
            lifetime: .seconds(30), loops: MultiThreadedEventLoopGroup.singleton, lookUp: Resolver.systemLookUp)
        let addresses = try await resolver.addresses(of: host, within: .seconds(3))
        #expect(addresses.allSatisfy { !$0.isPublic })
        resolver.close()
    }
}
