internal import QRCode

extension StepPage {
    /// The page with a code that a phone confirms.
    package struct QR: Sendable {
        package enum State: String, Sendable, CaseIterable {
            case waiting, scanned, confirmed, refused, used, expired
        }

        package let state: State
        /// What the code contains.
        package let url: String
        /// The number that the person types on the phone, or that the phone must show, too.
        package var number: Int?
        package var isNumberShown = false
        /// The account that has confirmed the code.
        package var account: Account?
        /// Whether the browser has used this account before; the page's form then submits itself.
        package var isKnown = false
        package var asksToRemember = false
        package var isRemembered = false

        package init(_ state: State, url: String) { (self.state, self.url) = (state, url) }
    }

    /// The app's page in the app store of a platform.
    package struct AppLink: Sendable {
        package enum Platform: String, Sendable, CaseIterable { case ios, android }

        package let platform: Platform
        package let url: String

        package init(_ platform: Platform, url: String) { (self.platform, self.url) = (platform, url) }
    }

    func values(of code: QR) -> [String: Any] {
        func text(_ name: String) -> String {
            self.text("qr.\(code.state.rawValue).\(name)", ["application": application]) ?? ""
        }
        let isOver = [.refused, .used, .expired].contains(code.state)
        var values: [String: Any] = [
            "state": code.state.rawValue, "title": text("title"), "isOver": isOver,
            "isAwaited": [.waiting, .scanned].contains(code.state), "isConfirmed": code.state == .confirmed,
        ]
        switch code.state {
        case .waiting:
            values["text"] = text("text")
            if let picture = QRCode(code.url) { (values["path"], values["size"]) = (picture.path, picture.size) }
            values["url"] = code.url
        case .scanned:
            values["text"] = text(code.isNumberShown ? "compare" : "type")
            values["number"] = code.number.map(String.init)
        case .confirmed:
            values["text"] = text("text")
            let account = code.account
            values["name"] = account?.name ?? account?.address ?? self.text("account.label", [:])
            values["address"] = account?.name.flatMap { _ in account?.address } ?? false
            (values["asksToRemember"], values["isRemembered"]) = (code.asksToRemember, code.isRemembered)
            // After a refusal the person decides.
            values["submitsItself"] = code.isKnown && problem == nil
        case .refused, .used, .expired: values["text"] = text("text")
        }
        return values
    }

    func values(of links: [AppLink]) -> [String: Any] {
        let apps = links.map { link in
            let name = link.platform.rawValue
            return ["id": name, "url": link.url, "text": text("qrOpen.\(name)", [:]) ?? name]
        }
        return ["apps": apps, "hasApps": !apps.isEmpty]
    }
}
