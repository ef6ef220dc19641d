import ProviderKit
import Testing

struct AddressRangeTests {
    @Test(arguments: [
        ("10.0.0.0/8", "10.255.1.2", true), ("10.0.0.0/8", "11.0.0.0", false), ("10.9.9.9/8", "10.0.0.1", true),
        ("192.168.4.0/22", "192.168.7.255", true), ("192.168.4.0/22", "192.168.8.0", false),
        ("127.0.0.1", "127.0.0.1", true), ("127.0.0.1", "127.0.0.2", false), ("0.0.0.0/0", "1.2.3.4", true),
        ("0.0.0.0/0", "::1", false), ("10.0.0.0/8", "::ffff:10.1.2.3", true), ("fd00::/8", "fdff::1", true),
        ("2001:db8::/33", "2001:db8:8000::", false), ("::1", "::1", true), ("10.0.0.0/8", "nobody", false),
    ])
    func `address ranges`(range: String, address: String, isInside: Bool) throws {
        #expect(try #require(AddressRange(range)).contains(address) == isInside)
    }

    @Test(arguments: ["", "10.0.0.0/33", "::/129", "10.0.0.0/-1", "10.0.0.0/", "10.0.0/8", "host", "1.2.3.4/8/8", "/8"])
    func `malformed address ranges`(text: String) {
        #expect(AddressRange(text) == nil)
    }
}
