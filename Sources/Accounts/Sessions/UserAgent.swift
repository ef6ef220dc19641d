internal import ProviderKit

/// A device as its `User-Agent` header describes it, in words for people.
///
/// The header is not reliable: browsers freeze parts of it, and anybody can send another one. So the words only help a
/// person to recognise an own device; nothing is decided by them.
package struct UserAgent: Sendable, Equatable {
    package enum DeviceType: String, Sendable, CaseIterable {
        case kindle, mobile, tablet, iphone, windowsPhone, pc, ipad, playStation, unknown
    }

    /// For example `Chrome 109`, `macOS 10.15.7` and `PC`; `nil` for what the header does not tell.
    package let browser, system, device: String?
    package let type: DeviceType
    /// Whether an app shows the page in its own web view, according to the header, which apps can change.
    package let isWebView: Bool

    /// The longest header that is read, in bytes; browsers send half of that.
    private static let longest = 512

    package init(_ header: String?) {
        let header = Header(header ?? "", upTo: Self.longest)
        browser = header.browser
        system = header.system
        (type, device) = header.device
        isWebView = header.isWebView
    }

    /// Browser and system in one line; `nil` unless both are known, as with apps, which name themselves.
    package var words: String? {
        guard let browser, let system else { return nil }
        return "\(browser), \(system)"
    }
}

/// A `User-Agent` header as bytes, because comparing them as characters costs much.
private struct Header {
    let bytes: ArraySlice<UInt8>

    init(_ text: String, upTo length: Int) { bytes = Array(text.utf8.prefix(length))[...] }

    func contains(_ token: String) -> Bool { bytes.firstRange(of: Array(token.utf8)) != nil }

    /// What follows a token, if the characters satisfy a condition; `nil` if nothing does.
    func text(after token: String, where isPart: (UInt8) -> Bool) -> String? {
        guard let end = bytes.firstRange(of: Array(token.utf8))?.upperBound else { return nil }
        let part = bytes[end...].prefix(while: isPart).prefix(40)
        return part.isEmpty ? nil : String(decoding: part, as: UTF8.self)
    }

    /// The numbers of a version, separated by dots.
    func version(after token: String) -> String? {
        text(after: token) { $0.isASCIIDigit || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "_") }
            .map { $0.replacing("_", with: ".") }
    }
}

// MARK: - Tables

extension Header {
    /// Browsers by the token before their version; most name others, too, so the order counts.
    private static let browsers = [
        ("Edg/", "Edge"), ("EdgA/", "Edge"), ("EdgiOS/", "Edge"), ("Edge/", "Edge"), ("OPR/", "Opera"),
        ("OPiOS/", "Opera"), ("OPT/", "Opera"), ("SamsungBrowser/", "Samsung Internet"),
        ("YaBrowser/", "Yandex Browser"),
        ("Vivaldi/", "Vivaldi"), ("DuckDuckGo/", "DuckDuckGo"), ("Ddg/", "DuckDuckGo"), ("UCBrowser/", "UC Browser"),
        ("MiuiBrowser/", "Mi Browser"), ("HuaweiBrowser/", "Huawei Browser"), ("Whale/", "Whale"), ("Silk/", "Silk"),
        ("FxiOS/", "Firefox"), ("Focus/", "Firefox Focus"), ("Firefox/", "Firefox"), ("CriOS/", "Chrome"),
        ("Chromium/", "Chromium"), ("Chrome/", "Chrome"), ("MSIE ", "Internet Explorer"),
        ("Trident/7.0; rv:", "Internet Explorer"), ("Opera/", "Opera"),
    ]

    /// The browser with the first number of its version.
    var browser: String? {
        for (token, name) in Self.browsers where contains(token) { return named(name, after: token, isWhole: false) }
        guard contains("Safari/"), contains("Version/") else { return nil }
        return named(contains("Android") ? "Android Browser" : "Safari", after: "Version/", isWhole: false)
    }

    /// Systems by the token before their version; those of other devices contain the name of a computer's.
    private static let systems = [
        ("Windows Phone ", "Windows Phone"), ("PlayStation 5", "PlayStation 5"), ("PlayStation 4", "PlayStation 4"),
        ("PLAYSTATION 3", "PlayStation 3"), ("PlayStation Vita", "PlayStation Vita"), ("iPhone OS ", "iOS"),
        ("Android ", "Android"), ("Android", "Android"), ("Mac OS X ", "macOS"), ("CrOS ", "ChromeOS"),
        ("KAIOS/", "KaiOS"), ("Tizen ", "Tizen"), ("Web0S", "webOS"), ("Windows", "Windows"), ("Macintosh", "macOS"),
        ("Linux", "Linux"),
    ]

    /// Versions of Windows by their number; browsers send 10.0 for all later ones, which is therefore left out.
    private static let windows = ["6.1": "7", "6.2": "8", "6.3": "8.1"]

    var system: String? {
        if contains("iPad"), contains("OS ") { return named("iPadOS", after: "OS ", isWhole: true) }
        for (token, name) in Self.systems where contains(token) {
            switch name {
            case "Windows":
                let version = version(after: "Windows NT ").flatMap { Self.windows[$0] }
                return version.map { "Windows \($0)" } ?? name
            case "Windows Phone", "iOS", "Android", "macOS", "KaiOS", "Tizen":
                return named(name, after: token, isWhole: true)
            default: return name
            }
        }
        return nil
    }

    private func named(_ name: String, after token: String, isWhole: Bool) -> String {
        guard let version = version(after: token) else { return name }
        return "\(name) \(isWhole ? version : String(version.prefix { $0 != "." }))"
    }

    var device: (UserAgent.DeviceType, String?) {
        if contains("Kindle") || contains("Silk/") { return (.kindle, "Kindle") }
        if contains("Windows Phone") { return (.windowsPhone, "Windows Phone") }
        if contains("iPhone") { return (.iphone, "iPhone") }
        if contains("iPad") { return (.ipad, "iPad") }
        if contains("PlayStation") || contains("PLAYSTATION") { return (.playStation, "PlayStation") }
        if contains("Android") { return (contains("Mobile") ? .mobile : .tablet, model) }
        if contains("iPod") || contains("Mobile") || contains("KAIOS/") { return (.mobile, nil) }
        if contains("Tablet") { return (.tablet, nil) }
        if contains("SMART-TV") || contains("SmartTV") || contains("Web0S") { return (.unknown, "TV") }
        let isComputer = ["Windows NT", "Macintosh", "CrOS ", "X11; ", "Linux x86_64"].contains { contains($0) }
        return isComputer ? (.pc, "PC") : (.unknown, nil)
    }

    /// Whether it is the header of a web view in an app.
    ///
    /// That of Android contains `wv`. That of Apple lacks the `Safari/` of browsers with the same engine; on iPads it
    /// names a Macintosh.
    var isWebView: Bool {
        if contains("Android") { return contains("; wv)") }
        let isOfApple = ["iPhone", "iPad", "iPod", "Macintosh"].contains { contains($0) }
        return isOfApple && contains("AppleWebKit/") && !contains("Safari/")
    }

    /// The model of an Android device: the part of the first bracket after the system's; `K` stands for no model.
    private var model: String? {
        let inBrackets = bytes.drop { $0 != UInt8(ascii: "(") }.dropFirst().prefix { $0 != UInt8(ascii: ")") }
        let parts = inBrackets.split(separator: UInt8(ascii: ";"))
        guard let system = parts.firstIndex(where: { $0.firstRange(of: Array("Android".utf8)) != nil }) else {
            return nil
        }
        let isShown = { (byte: UInt8) in (0x20...0x7E).contains(byte) }
        for part in parts[(system + 1)...] {
            let name = part.firstRange(of: Array(" Build/".utf8)).map { part[..<$0.lowerBound] } ?? part
            let text = String(decoding: name.drop { $0 == UInt8(ascii: " ") }, as: UTF8.self)
            // Older browsers name the person's language before the model.
            let isLanguage = text.utf8.count == 5 && text.utf8.dropFirst(2).first == UInt8(ascii: "-")
            guard !isLanguage, text != "wv", !text.hasPrefix("rv:"), name.allSatisfy(isShown) else { continue }
            return ["K", "", "Mobile", "Tablet", "U"].contains(text) ? nil : String(text.prefix(40))
        }
        return nil
    }
}
