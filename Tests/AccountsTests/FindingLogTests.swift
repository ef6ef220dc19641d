import Foundation
import ProviderKit
import Synchronization
import Testing

@testable import Accounts

/// What providers note, and people who do not come back.
struct FindingLogTests {
    private let google = FindingLog.Owner(application: "demo", provider: "google")

    @Test func `findings are counted by provider, and taken once`() {
        let log = FindingLog()
        let port = log.port(of: google)
        for _ in 1...3 { port.note(.clientRefused) }
        log.note(.clientRefused, of: .init(application: "photos", provider: "google"))
        #expect(log.pending(of: google) == [.clientRefused: 3])
        #expect(log.take().filter { $0.owner == google }.map(\.count) == [3])
        #expect(log.take().isEmpty)
        #expect(log.lastSeen(of: google).keys.first == .clientRefused)
    }

    @Test func `the latest finding is forgotten after a minute`() {
        let clock = ManualDate()
        let log = FindingLog { clock.now }
        #expect(log.latest(of: google) == nil)
        log.note(.upstreamTimeout, of: google)
        clock.pass(1)
        log.note(.upstreamPaused, of: google)
        log.note(.clientRefused, of: .init(application: "photos", provider: "google"))
        #expect(log.latest(of: google) == .upstreamPaused)
        clock.pass(59)
        #expect(log.latest(of: google) == .upstreamPaused)
        clock.pass(1)
        #expect(log.latest(of: google) == nil)
    }

    @Test func `people who leave and never come back are a finding`() {
        let clock = ManualDate()
        let log = FindingLog { clock.now }
        for _ in 1...Journeys.enough { log.noteRedirect(to: google) }
        clock.pass(RedirectFlows.lifetime.inSeconds)
        log.noteRedirect(to: google)
        #expect(log.pending(of: google).isEmpty, "the first may still come back")
        clock.pass(1)
        log.noteRedirect(to: google)
        #expect(log.pending(of: google) == [.redirectNeverBack: 1])
        // The next finding needs as many people again.
        clock.pass(RedirectFlows.lifetime.inSeconds + 1)
        log.noteRedirect(to: google)
        #expect(log.pending(of: google) == [.redirectNeverBack: 1])
    }

    @Test func `one who comes back is enough, and few people are no sign`() {
        let clock = ManualDate()
        let log = FindingLog { clock.now }
        for _ in 1...20 { log.noteRedirect(to: google) }
        log.noteReturn(from: google)
        clock.pass(RedirectFlows.lifetime.inSeconds + 1)
        for _ in 1..<Journeys.enough { log.noteRedirect(to: google) }
        clock.pass(RedirectFlows.lifetime.inSeconds + 1)
        log.noteRedirect(to: google)
        #expect(log.pending(of: google).isEmpty)
    }
}

private final class ManualDate: Sendable {
    private let date = Mutex(Date(timeIntervalSince1970: 1_800_000_000))

    var now: Date { date.withLock { $0 } }

    func pass(_ seconds: TimeInterval) { date.withLock { $0 += seconds } }
}
