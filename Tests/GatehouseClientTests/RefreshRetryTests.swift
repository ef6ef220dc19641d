import Foundation
import Testing

@testable import GatehouseClient

/// When the library sends a refresh again, and how it reads `Retry-After`.
struct RefreshRetryTests {
    private let now = ContinuousClock.now

    @Test func `pauses double up to five minutes, while calls may refresh at once`() {
        var retry = RefreshRetry()
        let pauses = (0..<8).map { _ in retry.fail(with: .network(.offline), at: now) }
        #expect(pauses == [5, 10, 20, 40, 80, 160, 300, 300].map { .seconds($0) })
        #expect(retry.block(at: now) == nil)
        #expect(!retry.admitsRenewalInAdvance(at: now + .seconds(299)))
        #expect(retry.admitsRenewalInAdvance(at: now + .seconds(300)))
    }

    @Test(arguments: [(60, 60), (3600, 300)])
    func `a pause that the server asks for blocks every refresh, for five minutes at most`(asked: Int, blocked: Int) {
        var retry = RefreshRetry()
        let error = GatehouseError.unexpectedAnswer(status: 503, retryAfter: .seconds(asked))
        #expect(retry.fail(with: error, at: now) == .seconds(blocked))
        #expect(retry.block(at: now + .seconds(blocked) - .milliseconds(1))?.retryAfter == .seconds(asked))
        #expect(!retry.admitsRenewalInAdvance(at: now))
        #expect(retry.block(at: now + .seconds(blocked)) == nil)
    }

    @Test(arguments: [
        ("120", nil, 120), (" 7 ", nil, 7), ("0", nil, 0), ("-5", nil, 0),
        // The time of the answer counts, not that of the device.
        ("Fri, 31 Dec 1999 23:59:59 GMT", "Fri, 31 Dec 1999 23:59:29 GMT", 30),
        ("Fri, 31 Dec 1999 23:59:29 GMT", "Fri, 31 Dec 1999 23:59:59 GMT", 0),
        ("Fri, 31 Dec 1999 23:59:59 GMT", nil, nil), ("soon", "Fri, 31 Dec 1999 23:59:29 GMT", nil),
        ("99999999999", nil, nil), ("", nil, nil),
    ])
    func `a pause is in seconds or until a time`(field: String, date: String?, seconds: Int?) {
        var headers = ["retry-after": field]
        headers["date"] = date
        #expect(RetryAfter.duration(in: headers) == seconds.map { .seconds($0) })
        for body in [#"{"error":{"code":"OVERLOADED","message":"Busy"}}"#, "<html>Busy</html>"] {
            let error = GatehouseError(status: 503, headers: headers, body: Data(body.utf8))
            #expect(error.retryAfter == seconds.map { .seconds($0) })
        }
    }

    @Test(.timeLimit(.minutes(1))) func `until the pause has passed calls fail without a refresh`() async throws {
        let transport = ScriptedTransport()
        let options = GatehouseClient.Options(
            storage: MemoryStorage(), transport: transport, longestWait: .zero)
        let client = GatehouseClient(url: try #require(URL(string: "https://h.example")), options: options)
        try await client.signIn(.anonymous)
        transport.next("/auth/refresh", .init(status: 503, headers: ["Retry-After": "1"], body: Data("Busy".utf8)))
        for _ in 0..<3 {
            let failure = await #expect(throws: GatehouseError.self) { try await client.accessToken() }
            #expect(failure?.code == .unexpectedAnswer && failure?.retryAfter == .seconds(1))
        }
        #expect(transport.sent == ["/auth/anonymous", "/auth/refresh"])
        let session = try await client.session
        #expect(session != nil)
        while (try? await client.accessToken()) == nil { try await Task.sleep(for: .milliseconds(50)) }
        #expect(transport.sent == ["/auth/anonymous", "/auth/refresh", "/auth/refresh"])
    }
}
