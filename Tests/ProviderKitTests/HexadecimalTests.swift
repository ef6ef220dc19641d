import ProviderKit
import Testing

struct HexadecimalTests {
    @Test func `each byte is two lower-case digits`() {
        #expect([0x00, 0x09, 0x0a, 0x10, 0x9f, 0xff].hex == "00090a109fff")
        #expect([UInt8]().hex.isEmpty)
        #expect(([0x01, 0xab, 0xcd] as [UInt8]).dropFirst().hex == "abcd")
    }
}
