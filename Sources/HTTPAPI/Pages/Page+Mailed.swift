internal import Accounts
internal import Foundation

/// Pages that mailed links lead to. `pathPrefix` is `/apps/photos` or the like, or empty.
///
/// Their scripts read the token from the page's own address; the server never puts it into the page. Nothing is read of
/// a successful response: the session in it must not be kept anywhere.
extension Page {
    /// Confirms the address of a registration.
    ///
    /// Only the button uses the token up, because mail scanners open links too. `asksPassword` is for applications whose
    /// links work only together with the registered password.
    static func verifyEmail(
        pathPrefix: String, asksPassword: Bool = false, nonce: PageNonce = PageNonce()
    ) -> Page {
        let sent: HTML = asksPassword ? "{ password: document.getElementById(\"password\").value }" : "{}"
        return Page(
            title: "Confirm your address",
            main: HTML(
                file: "verify-email.html",
                [
                    "api": "\(pathPrefix)\(base)",
                    "field": asksPassword ? HTML(file: "verify-email-password.html") : "",
                ]),
            style: ".after { margin: 1.25rem 0 0; }",
            script: HTML(file: "mailed-token.js") + "\n" + HTML(file: "verify-email.js", ["sent": sent]), nonce: nonce)
    }

    /// Sets a new password.
    static func resetPassword(pathPrefix: String, nonce: PageNonce = PageNonce()) -> Page {
        Page(
            title: "Choose a new password",
            main: HTML(file: "reset-password.html", ["api": "\(pathPrefix)\(base)"]),
            script: HTML(file: "mailed-token.js") + HTML(file: "reset-password.js"), nonce: nonce)
    }
}

/// The review of an account after a password reset. It needs no script: its form is posted to its own address.
extension Page {
    /// Lists identities by the names that their owner knows; nothing changes before the button is pressed.
    static func review(
        _ identities: [(id: String, name: String, linked: Date, isQuarantined: Bool)], token: String,
        pathPrefix: String, nonce: PageNonce = PageNonce()
    ) -> Page {
        let choices = identities.map { identity in
            HTML(
                file: "review-choice.html",
                [
                    "id": "\(identity.id)", "name": "\(identity.name)", "day": "\(identity.linked.formatted(day))",
                    "note": identity.isQuarantined ? " It can't sign in until you keep it." : "",
                ])
        }
        return Page(
            title: "Review your account",
            main: HTML(
                file: "review.html",
                ["pathPrefix": "\(pathPrefix)", "token": "\(token)", "choices": choices.joined()]),
            style: HTML(file: "review.css"), nonce: nonce, postsToItself: true)
    }

    static var reviewed: Page {
        error(title: "Thank you", sentence: "Your choice is saved. You can close this page.")
    }

    /// Explains to the reader what went wrong with a review.
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
            .error(title: "That did not work", sentence: "Nothing was changed. Open the link from the mail again.")
        }
    }

    /// A heading and one sentence.
    static func error(title: String, sentence: String, nonce: PageNonce = PageNonce()) -> Page {
        Page(title: title, main: "<h1>\(title)</h1>\n<p>\(sentence)</p>\n", nonce: nonce)
    }

    private static let day = Date.VerbatimFormatStyle(
        format: "\(day: .defaultDigits) \(month: .wide) \(year: .defaultDigits)",
        locale: Locale(identifier: "en_US_POSIX"), timeZone: .gmt, calendar: Calendar(identifier: .gregorian))
}
