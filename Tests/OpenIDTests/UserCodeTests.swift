import Testing

@testable import OpenID

/// The codes that devices show and people type.
struct UserCodeTests {
    @Test func `a code is two groups of four consonants, each time another one`() {
        let codes = (0..<100).map { _ in UserCode().text }
        for code in codes { #expect(code.wholeMatch(of: /[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}/) != nil) }
        #expect(Set(codes).count > 90)
        #expect(Set(codes.joined()).count == 21)
    }

    @Test(arguments: ["WDJB-MJHT", "wdjbmjht", "WdJb mJhT", "--w-d-j-b-m-j-h-t--", " wdjb-mjht "])
    func `case, hyphens and spaces make no difference`(typed: String) {
        #expect(UserCode(typed: typed)?.text == "WDJB-MJHT")
    }

    @Test(arguments: [
        "", "-", "WDJB-MJH", "WDJB-MJHTT", "WDJB-MJHA", "WDJB-MJH1", "WDJB_MJHT", "WDJB\u{2010}MJHT",
        "WDJB-MJH\u{54}\u{301}",
        "ŵdjbmjht", "WDJB\u{0}MJHT", String(repeating: "-", count: 60) + "WDJBMJHT",
    ])
    func `anything else is no code`(typed: String) {
        #expect(UserCode(typed: typed) == nil)
    }
}
