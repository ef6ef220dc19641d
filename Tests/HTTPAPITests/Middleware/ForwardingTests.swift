import ProviderKit
import Testing

@testable import HTTPAPI

struct ForwardingTests {
    /// Values of `X-Forwarded-For`, and the client address of each, if 10.0.0.0/8 and fd00::/8 are trusted proxies.
    private static let cases: [([String], String?)] = [
        ([], nil), ([""], nil), ([" , "], nil),
        (["203.0.113.7"], "203.0.113.7"),
        (["198.51.100.1, 203.0.113.7"], "203.0.113.7"), (["198.51.100.1", "203.0.113.7"], "203.0.113.7"),
        (["203.0.113.7, 10.1.2.3"], "203.0.113.7"), (["203.0.113.7", " 10.1.2.3 ,\tfd00::1 "], "203.0.113.7"),
        (["10.9.9.9, 10.1.2.3"], "10.9.9.9"),
        (["203.0.113.7, , "], "203.0.113.7"),
        (["203.0.113.7:5678"], "203.0.113.7"), (["203.0.113.7:5678, 10.1.2.3:80"], "203.0.113.7"),
        (["[2001:db8::1]:443"], "2001:db8::1"), (["[2001:db8::1]"], "2001:db8::1"), (["2001:DB8::1"], "2001:db8::1"),
        (["203.0.113.7, [fd00::1]:443"], "203.0.113.7"),
        (["::ffff:203.0.113.7"], "203.0.113.7"), (["203.0.113.7, ::ffff:10.1.2.3"], "203.0.113.7"),
        // Without brackets, the last group is part of the address and not a port.
        (["2001:db8::1:443"], "2001:db8::1:443"),
        (["203.0.113.7, unknown"], nil), (["203.0.113.7, <script>, 10.1.2.3"], nil),
        (["unknown, 203.0.113.7"], "203.0.113.7"),
        (["203.0.113.7:"], nil), (["203.0.113.7:x"], nil), (["203.0.113.7:70000"], nil), (["203.0.113.7:+80"], nil),
        (["[203.0.113.7]:80"], nil), (["[2001:db8::1"], nil), (["[2001:db8::1]x"], nil), (["[]"], nil),
        (["[2001:db8::1]:"], nil), (["2001:db8::1%eth0"], nil), (["1.2.3"], nil), (["01.2.3.4"], nil),
        (["\"203.0.113.7\""], nil), (["203.0.113.7 10.1.2.3"], nil),
    ]

    @Test func `the client is the right-most address that is no trusted proxy`() throws {
        let proxies = try ["10.0.0.0/8", "fd00::/8"].map { try #require(AddressRange($0)) }
        for (fields, client) in Self.cases {
            let found = Forwarding.client(in: fields) { address in proxies.contains { $0.contains(address) } }
            #expect(found?.description == client, "\(fields)")
        }
    }
}
