internal import Accounts
internal import Foundation

/// Where the mail of a password reset leads. The page needs no script: its form is posted to its own address.
extension Page {
    /// Shows identities, by the names that their owner knows; nothing changes before the button is pressed.
    static func review(
        _ identities: [(id: String, name: String, linked: Date, isQuarantined: Bool)], token: String,
        pathPrefix: String, nonce: PageNonce = PageNonce()
    ) -> Page {
        let choices = identities.map { identity -> HTML in
            let note: HTML = identity.isQuarantined ? " It can't sign in until you keep it." : ""
            return """
                <fieldset class="field">
                <legend>\(identity.name)</legend>
                <p class="quiet">Linked on \(identity.linked.formatted(day)).\(note)</p>
                <p class="check"><input id="keep-\(identity.id)" type="radio" name="\(identity.id)" value="keep">
                <label for="keep-\(identity.id)">It is mine: keep it</label></p>
                <p class="check"><input id="remove-\(identity.id)" type="radio" name="\(identity.id)" value="remove">
                <label for="remove-\(identity.id)">It is not mine: remove it</label></p>
                </fieldset>

                """
        }
        return Page(
            title: "Review your account",
            main: """
                <h1>Review your account</h1>
                <p>Your password was reset. These are the other ways to sign in to your account. Remove what you
                don't know: somebody else may have added it.</p>
                <form method="post" action="\(pathPrefix)/review">
                <input type="hidden" name="token" value="\(token)">
                \(choices.joined())<button>Save</button>
                </form>
                """,
            style: """
                fieldset { border: 1px solid var(--line); border-radius: .5rem; padding: .75rem 1rem; }
                legend { font-weight: 600; padding: 0 .25rem; overflow-wrap: anywhere; }
                fieldset p { margin: 0 0 .25rem; }

                """,
            nonce: nonce, postsToItself: true)
    }

    static var reviewed: Page {
        Page(
            title: "Thank you",
            main: "<h1>Thank you</h1>\n<p>Your choice is saved. You can close this page.</p>", nonce: PageNonce())
    }

    /// What went wrong with a review, for the person who reads the page.
    static func reviewError(_ error: APIError?) -> Page {
        switch error?.code {
        case .invalidToken:
            .error(
                title: "This link does not work any more",
                sentence: "It works once, for a week. Sign in to the app to see the ways to sign in to your account.")
        case .lastUsableIdentity:
            .error(
                title: "Something must remain",
                sentence: "Nothing that would remain could sign in. Go back and keep at least one of them.")
        default:
            .error(
                title: "That did not work", sentence: "Nothing was changed. Open the link from the mail again.")
        }
    }

    private static let day = Date.VerbatimFormatStyle(
        format: "\(day: .defaultDigits) \(month: .wide) \(year: .defaultDigits)",
        locale: Locale(identifier: "en_US_POSIX"), timeZone: .gmt, calendar: Calendar(identifier: .gregorian))
}
