import Accounts
import Foundation
import Testing

@testable import OpenID

/// Pages that wait for another device.
struct HandoffWaitersTests {
    private let application = Application.ID(rawValue: 1)

    private func wait(_ id: UUID, at waiters: HandoffWaiters) throws -> HandoffWait {
        try #require(waiters.begin(id, application: application))
    }

    @Test func `a change wakes the pages of its sign-in alone`() async throws {
        let (waiters, id, other) = (HandoffWaiters(), UUID(), UUID())
        let (first, second, third) = (
            try wait(id, at: waiters), try wait(id, at: waiters), try wait(other, at: waiters)
        )
        async let woken: Void = first.value(upTo: .seconds(60))
        waiters.wake(id, application: application)
        await woken
        await second.value(upTo: .seconds(60))
        #expect(first.isWoken && second.isWoken && !third.isWoken)
        waiters.wake(other, application: Application.ID(rawValue: 2))
        #expect(!third.isWoken, "a sign-in of another application")
        waiters.wakeAll()
        await third.value(upTo: .seconds(60))
        #expect(third.isWoken)
    }

    @Test func `a change before the page waits is not missed`() async throws {
        let (waiters, id) = (HandoffWaiters(), UUID())
        let wait = try wait(id, at: waiters)
        waiters.wake(id, application: application)
        await wait.value(upTo: .seconds(60))
        #expect(wait.isWoken)
    }

    @Test func `without a change the wait ends after its time`() async throws {
        let waiters = HandoffWaiters()
        let wait = try wait(UUID(), at: waiters)
        await wait.value(upTo: .milliseconds(1))
        #expect(!wait.isWoken)
    }

    @Test func `only so many pages wait, and those that have ended make room`() throws {
        let (waiters, id) = (HandoffWaiters(capacity: 2), UUID())
        let (first, _) = (try wait(id, at: waiters), try wait(UUID(), at: waiters))
        #expect(waiters.begin(id, application: application) == nil && waiters.count == 2)
        for _ in 0..<2 { waiters.end(first, for: id, application: application) }
        #expect(waiters.count == 1, "an end counts once")
        _ = try wait(id, at: waiters)
        #expect(waiters.begin(id, application: application) == nil)
    }

    @Test func `one sign-in has eight places, and leaves the others free`() throws {
        let (waiters, id) = (HandoffWaiters(), UUID())
        let waits = try (0..<8).map { _ in try wait(id, at: waiters) }
        #expect(waiters.begin(id, application: application) == nil && waiters.count == 8)
        _ = try #require(waiters.begin(id, application: Application.ID(rawValue: 2)), "another application's sign-in")
        _ = try wait(UUID(), at: waiters)
        waiters.end(waits[3], for: id, application: application)
        _ = try wait(id, at: waiters)
        #expect(waiters.begin(id, application: application) == nil && waiters.count == 10)
    }

    @Test func `a server that shuts down wakes all pages, and lets no further one wait`() async throws {
        let (waiters, id) = (HandoffWaiters(), UUID())
        let wait = try wait(id, at: waiters)
        waiters.close()
        await wait.value(upTo: .seconds(60))
        #expect(waiters.begin(id, application: application) == nil)
    }

    @Test func `ten thousand pages wait, and each is woken by its own change`() async throws {
        let (waiters, ids) = (HandoffWaiters(), (0..<10_000).map { _ in UUID() })
        let waits = try ids.map { try wait($0, at: waiters) }
        #expect(waiters.count == 10_000 && waiters.begin(UUID(), application: application) == nil)
        await withTaskGroup(of: Void.self) { group in
            for wait in waits { group.addTask { await wait.value(upTo: .seconds(600)) } }
            for id in ids { waiters.wake(id, application: application) }
            await group.waitForAll()
        }
        #expect(waits.count { $0.isWoken } == 10_000)
        for (wait, id) in zip(waits, ids) { waiters.end(wait, for: id, application: application) }
        #expect(waiters.count == 0)
    }
}
