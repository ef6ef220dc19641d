import Testing

@testable import OpenID

/// Which redirect URIs can be registered, and which a registered one matches.
struct ClientRedirectURITests {
    @Test(arguments: [
        "https://app.example/cb", "https://app.example/cb?x=1", "http://127.0.0.1/cb", "http://[::1]:9000/cb",
        "http://localhost:3000/cb", "com.example.app:/cb",
    ])
    func `a web, loopback or private address can be registered`(_ text: String) throws {
        #expect(try ClientRedirectURI(text).matches(text))
    }

    @Test(arguments: [
        ("http://app.example/cb", ClientRedirectURI.Fault.plainHTTP), ("https://app.example/cb#x", .fragment),
        ("https://*.app.example/cb", .wildcard), ("https://ada@app.example/cb", .user), ("myapp:/cb", .scheme),
        ("javascript:alert(1)", .scheme), ("data:text/html,x", .scheme), ("/cb", .malformed),
        ("https://app.example/c b", .malformed), ("https://app.example/\u{E9}", .malformed),
        ("https://app.example\\@evil.example/", .malformed), ("https:///cb", .malformed),
        ("https://a;sandbox/cb", .malformed), ("https://a%3Bsandbox/cb", .malformed),
    ])
    func `other addresses cannot`(_ text: String, _ fault: ClientRedirectURI.Fault) {
        #expect(throws: fault) { try ClientRedirectURI(text) }
    }

    @Test(arguments: [
        "https://app.example/cb/", "https://app.example/CB", "https://App.example/cb", "https://app.example:443/cb",
        "https://app.example/cb?x", "https://app.example/cb#x", "https://app.example/./cb", "https://app.example/%63b",
        "https://app.example/x/../cb", "https://app.example/x/..;/cb", "https://a@app.example/cb",
        "https://sub.app.example/cb", "https://app.example\\cb", "http://app.example/cb", "https://app.example/cb ",
    ])
    func `nothing but the same bytes matches`(_ text: String) throws {
        #expect(try !ClientRedirectURI("https://app.example/cb").matches(text))
    }

    @Test func `a loopback address without a port matches every port, and one with a port only that`() throws {
        for host in ["127.0.0.1", "[::1]"] {
            let any = try ClientRedirectURI("http://\(host)/cb")
            #expect(any.matches("http://\(host):49152/cb") && any.matches("http://\(host)/cb"))
            for wrong in [":0/cb", ":65536/cb", ":/cb", ":80/other", ":080/cb", ":80a/cb", ":80@evil.example/cb"] {
                #expect(!any.matches("http://\(host)\(wrong)"), "\(wrong)")
            }
            #expect(try !ClientRedirectURI("http://\(host):9000/cb").matches("http://\(host):9001/cb"))
        }
        #expect(try !ClientRedirectURI("http://localhost/cb").matches("http://localhost:9000/cb"))
    }
}
