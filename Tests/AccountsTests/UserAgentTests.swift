import Accounts
import Testing

/// What a `User-Agent` header tells about a device.
struct UserAgentTests {
    private static let chrome = "AppleWebKit/537.36 (KHTML, like Gecko) Chrome/109.0.5414.87"
    private static let safari = "AppleWebKit/605.1.15 (KHTML, like Gecko)"

    private static let agents: [(String, browser: String?, system: String?, device: String?, UserAgent.DeviceType)] = [
        (
            "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) \(chrome) Safari/537.36", "Chrome 109", "macOS 10.15.7",
            "PC", .pc
        ),
        (
            "Mozilla/5.0 (Windows NT 10.0; Win64; x64) \(chrome) Safari/537.36 Edg/109.0.1518.78", "Edge 109",
            "Windows",
            "PC", .pc
        ),
        (
            "Mozilla/5.0 (Windows NT 6.1; Trident/7.0; rv:11.0) like Gecko", "Internet Explorer 11", "Windows 7", "PC",
            .pc
        ),
        ("Mozilla/5.0 (X11; Linux x86_64; rv:121.0) Gecko/20100101 Firefox/121.0", "Firefox 121", "Linux", "PC", .pc),
        ("Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) \(chrome) Safari/537.36", "Chrome 109", "ChromeOS", "PC", .pc),
        (
            "Mozilla/5.0 (iPhone; CPU iPhone OS 17_2_1 like Mac OS X) \(safari) Version/17.2 Mobile/15E148 Safari/604.1",
            "Safari 17", "iOS 17.2.1", "iPhone", .iphone
        ),
        (
            "Mozilla/5.0 (iPad; CPU OS 16_3 like Mac OS X) \(safari) CriOS/109.0.5414.112 Mobile/15E148 Safari/604.1",
            "Chrome 109", "iPadOS 16.3", "iPad", .ipad
        ),
        ("Mozilla/5.0 (Linux; Android 10; K) \(chrome) Mobile Safari/537.36", "Chrome 109", "Android 10", nil, .mobile),
        (
            "Mozilla/5.0 (Linux; Android 13; SM-S918B Build/TP1A) SamsungBrowser/23.0 \(chrome) Mobile Safari/537.36",
            "Samsung Internet 23", "Android 13", "SM-S918B", .mobile
        ),
        (
            "Mozilla/5.0 (Linux; Android 12; Pixel C) \(chrome) Safari/537.36", "Chrome 109", "Android 12", "Pixel C",
            .tablet
        ),
        (
            "Mozilla/5.0 (Linux; U; Android 4.0.3; de-de; GT-I9100 Build/IML74K) Version/4.0 Mobile Safari/534.30",
            "Android Browser 4", "Android 4.0.3", "GT-I9100", .mobile
        ),
        (
            "Mozilla/5.0 (Linux; Android 9; KFMAWI) AppleWebKit/537.36 Silk/108.4.6 like Chrome/108.0 Safari/537.36",
            "Silk 108", "Android 9", "Kindle", .kindle
        ),
        (
            "Mozilla/5.0 (PlayStation; PlayStation 5/2.26) \(safari) Version/13.0 Safari/605.1.15", "Safari 13",
            "PlayStation 5", "PlayStation", .playStation
        ),
        (
            "Mozilla/5.0 (Windows Phone 10.0; Android 6.0.1; Lumia 950) \(chrome) Mobile Safari/537.36 Edge/15.15063",
            "Edge 15", "Windows Phone 10.0", "Windows Phone", .windowsPhone
        ),
        ("Photos/3.1 CFNetwork/1410.0.3 Darwin/22.6.0", nil, nil, nil, .unknown), ("", nil, nil, nil, .unknown),
        ("Chrome/", "Chrome", nil, nil, .unknown), ("\u{0}\u{301}🙂", nil, nil, nil, .unknown),
    ]

    @Test(arguments: agents)
    func `the words are those of the table`(
        header: String, browser: String?, system: String?, device: String?, type: UserAgent.DeviceType
    ) {
        let agent = UserAgent(header)
        #expect(agent.browser == browser && agent.system == system && agent.device == device, "\(agent)")
        #expect(agent.type == type)
        #expect(agent.words == browser.flatMap { browser in system.map { "\(browser), \($0)" } })
    }

    @Test(arguments: [
        ("Mozilla/5.0 (Linux; Android 13; SM-S918B Build/TP1A; wv) Version/4.0 \(chrome) Mobile Safari/537.36", true),
        ("Mozilla/5.0 (Linux; Android 10; K; wv) Version/4.0 \(chrome) Mobile Safari/537.36", true),
        ("Mozilla/5.0 (iPhone; CPU iPhone OS 17_2_1 like Mac OS X) \(safari) Mobile/15E148", true),
        ("Mozilla/5.0 (iPad; CPU OS 16_3 like Mac OS X) \(safari) Mobile/15E148", true),
        ("Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) \(safari)", true),
        ("Photos/3.1 CFNetwork/1410.0.3 Darwin/22.6.0", false), ("AppleWebKit/605.1.15", false), ("; wv)", false),
    ])
    func `a web view of an app is recognised`(header: String, isWebView: Bool) {
        #expect(UserAgent(header).isWebView == isWebView)
    }

    @Test(arguments: agents.map(\.0)) func `no browser is taken for a web view`(header: String) {
        #expect(!UserAgent(header).isWebView)
    }

    /// The words stand in mails and pages, so they hold nothing that the sender has chosen freely but a short model.
    @Test(arguments: [
        "Chrome/\(String(repeating: "9", count: 5000)) (Windows NT 6.1)",
        "Mozilla (Linux; Android 1\r\nSubject: x; <b>\u{301}\u{7}</b>) Chrome/1",
        "Mozilla (Linux; Android 13; \(String(repeating: "x", count: 300)) Build/1) Chrome/1 Mobile",
    ])
    func `the words are short and printable`(header: String) {
        let agent = UserAgent(header)
        for word in [agent.browser, agent.system, agent.device, agent.words].compactMap({ $0 }) {
            #expect(word.utf8.count <= 100 && word.utf8.allSatisfy { (0x20...0x7E).contains($0) }, "\(word)")
        }
    }

    @Test func `no header is as an empty one`() { #expect(UserAgent(nil) == UserAgent("")) }
}
