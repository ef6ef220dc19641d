import Testing

@testable import OpenID

struct PageStyleTests {
    /// The values are those of the examples of WCAG 2.2's formula: black on white is 21, a colour on itself 1.
    @Test(arguments: [("#000000", "#ffffff", 21.0), ("#777777", "#ffffff", 4.48), ("#1F5FD0", "#1f5fd0", 1)])
    func `contrast is that of WCAG`(one: String, other: String, contrast: Double) throws {
        let found = try #require(Colour(one)?.contrast(with: other))
        #expect(abs(found - contrast) < 0.01)
    }

    @Test(arguments: ["", "#", "#12345", "#1234567", "123456", "#12345g", "#+12345", "red", "#é2345"])
    func `other texts are no colours`(text: String) { #expect(Colour(text) == nil) }

    @Test func `pictures are told by their first bytes`() {
        #expect(Picture(Array("<?xml version=\"1.0\"?><svg/>".utf8))?.type == "image/svg+xml")
        #expect(Picture([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0])?.type == "image/png")
        #expect(Picture(Array("RIFF".utf8) + [1, 0, 0, 0] + Array("WEBPVP8 ".utf8))?.type == "image/webp")
        #expect(Picture(Array("GIF89a".utf8)) == nil && Picture([]) == nil && Picture([0xFF]) == nil)
    }
}
