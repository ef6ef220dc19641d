internal import Foundation
internal import OpenID
internal import Pages
internal import ProviderKit

extension OpenIDSection {
    /// What the pages of an application show of its operator.
    struct PagesSection: SettingsSection {
        let name: String?
        let language: String
        let logo: String?
        let colours: ColoursSection
        let links: LinksSection

        static let settings = [
            Setting(
                "name", .text, help: "What pages call the application, in titles and texts. Default: its name."),
            Setting(
                "language", .choice(PageLanguage.allCases), default: "en",
                help: "The language of pages for people whose browser and account name none of these."),
            Setting("logo", .picture, help: "The picture above each page."),
            Setting("colours", .section(ColoursSection.self), default: [:], help: "The colours of links and buttons."),
            Setting(
                "links", .section(LinksSection.self), default: [:],
                help: "The operator's own pages, which each page links to."),
        ]

        var value: OpenIDSettings.Pages {
            var pages = OpenIDSettings.Pages()
            (pages.name, pages.language) = (name, language)
            (pages.privacy, pages.terms, pages.support) = (links.privacy, links.terms, links.support)
            pages.logo = logo.flatMap { Data(base64Encoded: $0) }.flatMap { Picture(Array($0)) }
            (pages.accent, pages.darkAccent) = (
                colours.accent.flatMap { Colour($0) }, colours.accentDark.flatMap { Colour($0) }
            )
            return pages
        }
    }

    /// Colours, which must differ enough from the ground that they are seen on (WCAG 2.2, 1.4.3).
    struct ColoursSection: SettingsSection {
        let accent: String?
        let accentDark: String?

        static let settings = [
            Setting("accent", colour, help: "On light ground, with a contrast of at least 4.5 to `#f4f5f7`."),
            Setting("accentDark", colour, help: "On dark ground, with a contrast of at least 4.5 to `#1e2226`."),
        ]

        private static let colour = Form.text("a colour as in #1f5fd0") { Colour($0) == nil ? nil : $0 }

        func validate() throws(SettingsError) {
            for (name, colour, ground) in [("accent", accent, "#f4f5f7"), ("accentDark", accentDark, "#1e2226")] {
                guard let contrast = colour.flatMap({ Colour($0) })?.contrast(with: ground), contrast < 4.5 else {
                    continue
                }
                throw SettingsError(
                    setting: name,
                    reason: "has a contrast of \(String(format: "%.2f", contrast)) to \(ground); at least 4.5 is needed"
                )
            }
        }
    }

    struct LinksSection: SettingsSection {
        let privacy: String?
        let terms: String?
        let support: String?

        static let settings = [
            Setting("privacy", page, help: "The privacy policy; also `op_policy_uri` in discovery."),
            Setting("terms", page, help: "The terms of service; also `op_tos_uri` in discovery."),
            Setting("support", page, help: "Where people find help."),
        ]

        private static let page = Form.text("an https URL without user") { text in
            guard let url = URLComponents(http: text), url.scheme?.lowercased() == "https", url.user == nil else {
                return nil
            }
            return text
        }
    }
}
