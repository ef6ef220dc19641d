import Testing

@testable import Accounts

struct FlowCookieTests {
    private let state = OpaqueToken(text: "state", hash: Array(repeating: 0xAB, count: 32))

    private func cookie(isOfPage: Bool) -> FlowCookie {
        FlowCookie(
            for: state, value: "v", provider: "trusting", isOfPage: isOfPage, in: TestApplication().application)
    }

    /// Browsers accept a name with this prefix only from the host itself, with the path `/`.
    @Test func `no other host of the domain can set the cookie of a page's flow`() {
        #expect(cookie(isOfPage: true).name == "__Host-gatehouse-flow-abababababab")
        #expect(cookie(isOfPage: true).path == "/")
    }

    @Test func `the cookie of an app's flow is sent to the callback alone`() {
        #expect(cookie(isOfPage: false).name == "gatehouse-flow-abababababab")
        #expect(cookie(isOfPage: false).path.hasSuffix("/auth/oauth/trusting/callback"))
    }
}
