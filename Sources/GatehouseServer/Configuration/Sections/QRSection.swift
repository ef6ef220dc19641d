internal import OpenID

extension OpenIDSection {
    /// Sign-in at a browser by an app that is signed in on a phone.
    struct QRSection: SettingsSection {
        let enabled: Bool
        let url: String?
        let lifetime: Duration
        let number: QRSettings.NumberMode
        let appLinks: AppLinksSection

        static let settings = [
            Setting("enabled", .flag, default: "true", help: "The pages to sign in offer a QR code."),
            Setting(
                "url", .clientURL,
                help: """
                    The page that the code leads to, if a phone opens it in a browser; `code` is added to its query. \
                    Default: the issuer's own page.
                    """),
            Setting(
                "lifetime", .duration(.seconds(1) ... .seconds(600)), default: "2m",
                help: "How long a code can be scanned."),
            Setting(
                "number", .choice(QRSettings.NumberMode.allCases), default: "app",
                help: """
                    Whether apps at the paths of `blitz`, which have no field for the number, may show it instead \
                    (`app`), or may not answer codes (`always`). In other apps the person always types it.
                    """),
            Setting(
                "appLinks", .section(AppLinksSection.self), default: [:],
                help: "The pages in the app stores of the app that scans codes."),
        ]

        var value: QRSettings {
            var qr = QRSettings()
            (qr.isEnabled, qr.url, qr.lifetime, qr.number) = (enabled, url, lifetime, number)
            qr.appLinks = ["ios": appLinks.ios, "android": appLinks.android].compactMapValues { $0 }
            return qr
        }
    }

    struct AppLinksSection: SettingsSection {
        let ios: String?
        let android: String?

        static let settings = [
            Setting("ios", .clientURL, help: "For iPhone and iPad."),
            Setting("android", .clientURL, help: "For Android."),
        ]
    }
}
