import Synchronization
import Testing

@testable import HTTPAPI

struct ClientRefusalLogTests {
    private func subject(
        _ client: String? = "web", network: String = "192.0.2.1", _ reason: ClientRefusalLog.Reason = .redirectURI
    ) -> ClientRefusalLog.Subject {
        .init(application: "demo", client: client, network: network, reason: reason)
    }

    @Test func `a reason is logged once a minute for a client and network`() {
        let clock = Mutex(ContinuousClock.now)
        let log = ClientRefusalLog { clock.withLock { $0 } }
        #expect(log.isDue(subject()) && !log.isDue(subject()))
        #expect(log.isDue(subject(nil)) && log.isDue(subject(network: "192.0.2.2")))
        #expect(log.isDue(subject("web", .authentication)))
        clock.withLock { $0 += .seconds(59) }
        #expect(!log.isDue(subject()))
        clock.withLock { $0 += .seconds(1) }
        #expect(log.isDue(subject()) && !log.isDue(subject()))
    }

    @Test func `many networks write 100 lines a minute`() {
        let clock = Mutex(ContinuousClock.now)
        let log = ClientRefusalLog { clock.withLock { $0 } }
        for _ in 1...2 {
            #expect((1...500).filter { log.isDue(subject(network: "network \($0)")) }.count == 100)
            clock.withLock { $0 += .seconds(60) }
        }
    }

    @Test(arguments: [
        ("https://a.example/cb?code=secret", "https://a.example/cb"),
        ("com.example.app:/cb#secret", "com.example.app:/cb"),
        ("https://a.example/cb?\u{301}secret", "https://a.example/cb"), ("https://ada:secret@a.example/cb", nil),
        ("https://ada:secret?@a.example/cb", nil), ("https://a.example/cb%3Fcode=secret", nil),
        (
            "https://a.example/" + String(repeating: "a", count: 999),
            "https://a.example/" + String(repeating: "a", count: 182)
        ),
    ])
    func `a redirect URI is shown without what may be secret`(uri: String, shown: String?) {
        #expect(ClientRefusalLog.shown(uri) == shown)
    }
}
