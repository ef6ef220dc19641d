internal import Foundation
internal import OpenID

extension OpenIDSection {
    /// What the pages of an application show of its operator.
    struct PagesSection: SettingsSection {
        let name: String?
        let language: String
        let links: LinksSection

        static let settings = [
            Setting(
                "name", .text, help: "What pages call the application, in titles and texts. Default: its name."),
            Setting(
                "language", .choice(["en", "de", "fr", "es"]), default: "en",
                help: "The language of pages for people whose browser and account name none of these."),
            Setting(
                "links", .section(LinksSection.self), default: [:],
                help: "The operator's own pages, which each page links to."),
        ]

        var value: OpenIDSettings.Pages {
            var pages = OpenIDSettings.Pages()
            (pages.name, pages.language) = (name, language)
            (pages.privacy, pages.terms, pages.support) = (links.privacy, links.terms, links.support)
            return pages
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
