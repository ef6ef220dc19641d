import Accounts
import ProviderKit
import Testing

@testable import GatehouseServer

struct ConfigurationValueTests {
    @Test(arguments: [
        ("0", 0), ("3600", 3600), ("90s", 90), ("5m", 300), ("2h", 7200), ("30d", 2_592_000), ("36500d", 3_153_600_000),
    ])
    func `durations`(text: String, seconds: Int64) {
        #expect(Duration(configured: text) == .seconds(seconds))
    }

    @Test(arguments: [
        "", "s", "-1", "+1", "1.5h", "1 h", "5min", "1w", "1hs", "36501d", "9223372036854775807d",
        "99999999999999999999", "٣", "0x10",
    ])
    func `malformed durations`(text: String) {
        #expect(Duration(configured: text) == nil)
    }

    @Test(arguments: [("5/min", 5, 60), ("3/h", 3, 3600), ("1/s", 1, 1), ("1000000/d", 1_000_000, 86_400)])
    func `rates`(text: String, count: Int, seconds: Int64) {
        #expect(Rate(configured: text) == Rate(count, per: .seconds(seconds)))
    }

    @Test(arguments: [
        "", "5", "/min", "0/min", "-1/h", "5/", "5/week", "5/min/h", "1000001/s", "99999999999999999999/s",
    ])
    func `malformed rates`(text: String) {
        #expect(Rate(configured: text) == nil)
    }

    @Test(arguments: [
        ("https://App.Example", "https://app.example"), ("https://app.example:443", "https://app.example"),
        ("http://localhost:3000", "http://localhost:3000"), ("http://app.example:443", "http://app.example:443"),
        ("capacitor://localhost", "capacitor://localhost"), ("http://[::1]:3000", "http://[::1]:3000"),
    ])
    func `origins in the form that browsers send`(text: String, origin: String) throws {
        let configuration = try Fixture.parse(Fixture.application("origins: [\"\(text)\"]"))
        #expect(configuration.applications.first?.origins == [origin])
    }

    @Test(arguments: [
        "null", "app.example", "https://", "https://a@b", "https://a/b", "https://a?b", "https://*.a", "file://a",
    ])
    func `malformed origins`(text: String) {
        #expect(Fixture.problems(Fixture.application("origins: [\"\(text)\"]")).count == 1)
    }

    @Test(arguments: [
        ("127.0.0.1", true), ("127.9.9.9", true), ("::1", true), ("LocalHost", true), ("0.0.0.0", false), ("::", false),
        ("example.com", false),
    ])
    func `loopback hosts`(host: String, isLoopback: Bool) {
        #expect(host.isLoopbackHost == isLoopback)
    }

    @Test func `a public URL loses its trailing slashes, and its scheme gets lower case`() throws {
        let configuration = try Fixture.parse(Fixture.top("server: { publicURL: \"HTTPS://id.example/base//\" }"))
        #expect(configuration.server.publicURL == "https://id.example/base")
        #expect(configuration.applications.first?.url == "https://id.example/base/apps/demo")
    }

    @Test func `an IPv6 listener's own URL has brackets`() throws {
        let configuration = try Fixture.parse(Fixture.top("server: { host: \"::1\", port: 99 }"))
        #expect(configuration.server.publicURL == "http://[::1]:99")
    }
}
