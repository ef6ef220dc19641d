/// Sign-in at a browser by an app that is signed in on a phone.
package struct QRSettings: Sendable, Equatable {
    package enum NumberMode: String, Sendable, CaseIterable, Decodable {
        /// Where the app has no field for the number, the person compares it.
        case app
        case always
    }

    package var isEnabled = true
    /// The page that the picture leads to; `nil` for the issuer's own.
    package var url: String?
    package var lifetime: Duration = .seconds(120)
    package var number = NumberMode.app
    /// The app's pages in the app stores, by platform: `ios` and `android`.
    package var appLinks: [String: String] = [:]

    package init() {}
}
