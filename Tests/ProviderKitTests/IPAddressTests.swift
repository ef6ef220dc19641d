import ProviderKit
import Testing

struct IPAddressTests {
    @Test(arguments: [
        ("203.0.113.7", "203.0.113.7", "203.0.113.7"), ("::ffff:203.0.113.7", "203.0.113.7", "203.0.113.7"),
        ("::FFFF:CB00:7107", "203.0.113.7", "203.0.113.7"), ("::1", "::1", "::/64"),
        ("2001:DB8:0:0::1", "2001:db8::1", "2001:db8::/64"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:3:3:4:5:6", "2001:db8:1:3:3:4:5:6", "2001:db8:1:3::/64"),
        // An IPv4-compatible address (RFC 4291, 2.5.5.1) is not mapped. It is treated like any other IPv6 address.
        ("::203.0.113.7", "::203.0.113.7", "::/64"),
    ])
    func `an address, and the network that one subscriber is given`(
        text: String, spelling: String, subscriber: String
    ) throws {
        let address = try #require(IPAddress(text))
        #expect(address.description == spelling)
        #expect(address.subscriber == subscriber)
        #expect(IPAddress(spelling) == address)
    }

    @Test(arguments: [
        ("203.0.113.7", "203.0.113.0/24"), ("::ffff:203.0.113.7", "203.0.113.0/24"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1::/48"), ("2001:db8:1:ffff::1", "2001:db8:1::/48"),
        ("2001:db8:2:2:3:4:5:6", "2001:db8:2::/48"),
    ])
    func `the block that an address is routed with`(text: String, block: String) {
        #expect(IPAddress(text)?.block == block)
    }

    @Test(arguments: [
        "", " ", "1.2.3", "1.2.3.4 ", " 1.2.3.4", "1.2.3.4:80", "01.2.3.4", "0x1.2.3.4", "1.2.3.256", "16909060",
        "[::1]", "::1%eth0", ":::", "1::2::3", "12345::", "::ffff:1.2.3", "1.2.3.4\0", "host", "１.2.3.4",
    ])
    func `malformed addresses`(text: String) {
        #expect(IPAddress(text) == nil)
    }
}
