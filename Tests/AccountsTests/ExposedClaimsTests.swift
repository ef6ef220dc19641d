import Foundation
import ProviderKit
import Testing

@testable import Accounts

struct ExposedClaimsTests {
    private func text(_ size: Int) -> JSONValue { .string(String(repeating: "a", count: size)) }

    /// The JSON object `{"a":"…"}` takes eight bytes besides the text.
    @Test func `a claim fits up to the last byte`() {
        #expect(ExposedClaims.chosen(["a"], from: ["a": text(2040)]).count == 1)
        #expect(ExposedClaims.chosen(["a"], from: ["a": text(2041)]).isEmpty)
        // An escape counts with all bytes of its written form.
        let quotes = JSONValue.string(String(repeating: "\"", count: 1021))
        #expect(ExposedClaims.chosen(["a"], from: ["a": quotes]).isEmpty)
    }

    @Test func `the first names have precedence, and only claims that no longer fit are left out`() {
        let profile = ["big": text(1500), "other": text(1500), "small": "s", "hidden": "h"]
        #expect(Set(ExposedClaims.chosen(["big", "other", "small"], from: profile).keys) == ["big", "small"])
        #expect(Set(ExposedClaims.chosen(["other", "big", "small"], from: profile).keys) == ["other", "small"])
        #expect(ExposedClaims.chosen(["gone", "small", "small"], from: profile) == ["small": "s"])
        #expect(ExposedClaims.chosen([], from: profile).isEmpty)
    }
}
