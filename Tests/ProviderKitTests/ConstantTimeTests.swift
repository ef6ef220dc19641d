import ProviderKit
import Testing

@Suite struct ConstantTimeTests {
    @Test(arguments: [
        ("", "", true), ("a", "a", true), ("a", "b", false), ("a", "", false), ("abc", "abcd", false),
        ("xbc", "abc", false), ("abx", "abc", false),
    ])
    func comparesBytes(one: String, other: String, areEqual: Bool) {
        #expect(ConstantTime.areEqual(one.utf8, other.utf8) == areEqual)
    }
}
