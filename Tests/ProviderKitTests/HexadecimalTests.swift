import ProviderKit
import Testing

struct HexadecimalTests {
    @Test func `each byte is two lower-case digits`() {
        let bytes: [UInt8] = [0x00, 0x09, 0x0a, 0x10, 0x9f, 0xff]
        #expect(bytes.hex == "00090a109fff")
        #expect([UInt8]().hex.isEmpty)
        #expect([UInt8](hex: "00090A109FFF") == bytes)
        #expect([UInt8](hex: "abc") == nil)
        #expect([UInt8](hex: "zz") == nil)
    }
}
