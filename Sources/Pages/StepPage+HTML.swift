internal import Foundation

extension StepPage.Step {
    /// The value of `data-step`.
    package var name: String {
        if case .link = self { "signin" } else { template }
    }

    /// The name of the template.
    package var template: String {
        switch self {
        case .signIn: "signin"
        case .signUp: "signup"
        case .forgot: "forgot"
        case .secondProof: "second-proof"
        case .newOrLink: "new-or-link"
        case .welcome: "welcome"
        case .newPassword: "new-password"
        case .restore: "restore"
        case .code: "code"
        case .reauthenticate: "reauthenticate"
        case .accounts: "accounts"
        case .confirm: "confirm"
        case .consent: "consent"
        case .qr: "qr"
        case .qrOpen: "qr-open"
        case .device: "device"
        case .deviceConfirm: "device-confirm"
        case .link: "link"
        case .conflict: "conflict"
        case .merge: "merge"
        case .return: "return"
        case .formPost: "form-post"
        case .signOut: "signout"
        case .signedOut: "signed-out"
        case .verifyEmail: "verify-email"
        case .resetPassword: "reset-password"
        case .review: "review"
        case .invitation: "invitation"
        case .recover: "recover"
        case .account(let page): page.name.map { "account-\($0)" } ?? "account"
        case .done, .deleted: "done"
        case .error: "error"
        }
    }
}

extension StepPage {
    package var page: Page {
        let nonce = PageNonce()
        let values = values.merging(["nonce": nonce.text]) { $1 }
        let html = templates?.render(step.template, values) ?? ""
        var permissions: Page.Permissions = .form
        if case .formPost = step { permissions = [.script, .formElsewhere] }
        if case .qr = step { permissions = [.script, .form] }
        var image: String?
        if case .consent(let consent) = step { image = consent.logo }
        return Page(
            html: html, nonce: nonce, allowing: permissions, formTargets: formTargets, image: image,
            referrerPolicy: "same-origin")
    }

    private var templates: PageTemplates? { PageTemplates.all[language] }

    /// A text with its values, as HTML; `nil` if there is none.
    func text(_ name: String, _ values: [String: Any]) -> String? { templates?.render(name, values) }

    /// The values that every page has, and those of its step.
    private var values: [String: Any] {
        var values: [String: Any] = [
            "language": language.rawValue, "application": application, "step": step.name,
            "hasLanguages": canBeShownAgain, "isInWebView": isInWebView,
            "languages": PageLanguage.allCases.filter { $0 != language }.map { language in
                ["tag": language.rawValue, "name": language.name, "href": link(to: linkedPage, in: language)]
            },
        ]
        values["client"] = client
        values["csrf"] = formToken
        values["cancel"] = cancel
        if let problem {
            let parts = text(of: problem).split(separator: " • ").map(String.init)
            values["isOfField"] = problem.isOfField
            values["problem"] = ["code": problem.code, "text": parts.first ?? "", "remedies": Array(parts.dropFirst())]
        }
        (values["ownLogo"], values["accent"], values["darkAccent"]) = (logo, accent, darkAccent)
        values["links"] = shownLinks
        values["hasLinks"] = !shownLinks.isEmpty
        return values.merging(stepValues) { $1 }
    }

    /// The text of the problem's rule, of its reasons, of the problem at this step, or of its code; each remedy among
    /// several is after a bullet.
    private func text(of problem: Problem) -> String {
        let minutes = problem.retryAfter.map { max(1, ($0 + 59) / 60) }
        let shown: [String: Any] = [
            "minutes": minutes ?? 1, "application": application, "provider": problem.provider ?? "",
        ]
        func text(_ name: String?) -> String? {
            templates?.render((["problem", problem.code] + [name].compactMap(\.self)).joined(separator: "."), shown)
        }
        let reasons = problem.reasons.compactMap { text($0) }
        guard reasons.isEmpty else { return reasons.joined(separator: " ") }
        return [problem.rule, step.name].lazy.compactMap { $0 }.compactMap { text($0) }.first
            ?? text(nil) ?? templates?.render("problem.other", shown) ?? ""
    }

    /// A link to another page of the same step, or to the same page in another language.
    private func link(to page: String?, in language: PageLanguage? = nil) -> String {
        let query = [page.map { "step=\($0)" }, language.map { "lang=\($0.rawValue)" }]
        return "?" + query.compactMap { $0 }.joined(separator: "&")
    }

    /// Whether a link to the same URL shows the page again; answers are given only once.
    private var canBeShownAgain: Bool {
        switch step {
        case .return, .formPost, .signedOut, .done, .deleted, .error: false
        default: true
        }
    }

    /// The operator's pages, with their relations in HTML.
    private var shownLinks: [[String: Any]] {
        [
            ("privacy", "privacy-policy", links.privacy), ("terms", "terms-of-service", links.terms),
            ("support", "help", links.support),
        ].compactMap { name, relation, url in
            url.map { ["url": $0, "relation": relation, "text": templates?.render("link.\(name)", [:]) ?? name] }
        }
    }

    private var stepValues: [String: Any] {
        switch step {
        case .signIn(let ways), .signUp(let ways), .secondProof(let ways): return values(of: ways)
        case .forgot(let address): return address.map { ["identifier": $0] } ?? [:]
        case .welcome(let name, let asksForPassword):
            let concernsPassword = problem.map { $0.code != "INVALID_PARAMETER" } ?? false
            var values: [String: Any] = [
                "asksForPassword": asksForPassword, "focusesPassword": asksForPassword && concernsPassword,
            ]
            values["name"] = name
            return values
        case .newOrLink(let provider, let mayOpenAccount):
            return ["provider": provider, "mayOpenAccount": mayOpenAccount]
        case .newPassword(let account): return values(of: account)
        case .restore(let date): return ["date": language.text(ofTime: date)]
        case .done(let done, let next):
            var values: [String: Any] = [:]
            for name in ["title", "text"] { values[name] = templates?.render("done.\(done.rawValue).\(name)", [:]) }
            values["next"] = next
            return values
        case .reauthenticate(let ways, let account):
            // The address cannot be changed here.
            return values(of: ways).merging(values(of: account)) { $1 }
                .merging(["focusesPassword": ways.hasPassword && problem != nil]) { $1 }
        case .code(let address): return ["identifier": address]
        case .accounts(let accounts), .signOut(let accounts):
            let shown = accounts.enumerated().map { number, account in
                values(of: account).merging(["isFirst": number == 0]) { $1 }
            }
            return ["accounts": shown, "hasSeveral": accounts.count > 1]
        case .confirm(let account, let former):
            let owner: [String: Any] = ["hasFormer": former != nil, "former": former?.name ?? false as Any]
            return values(of: account).merging(owner) { $1 }
        case .consent(let consent):
            var values = values(of: consent.account).merging(
                [
                    "host": text(of: consent.destination), "isForeign": consent.isForeign,
                    "isUnverified": consent.isUnverified, "scopes": self.values(of: consent.scopes),
                ]) { $1 }
            (values["logo"], values["policy"], values["terms"]) = (consent.logo, consent.policy, consent.terms)
            return values
        case .qr(let code): return values(of: code)
        case .qrOpen(let links): return values(of: links)
        case .device(let userCode): return userCode.map { ["userCode": $0] } ?? [:]
        case .deviceConfirm(let device): return values(of: device)
        case .link(let link): return values(of: link)
        case .conflict(let conflict, let account):
            return values(of: account).merging(values(of: conflict)) { $1 }
        case .merge(let merge): return values(of: merge)
        case .return(let url): return ["url": url]
        case .formPost(let fields, let url):
            return ["url": url, "fields": fields.map { ["name": $0.name, "value": $0.value] }]
        case .verifyEmail, .resetPassword, .recover: return [:]
        case .invitation(let name):
            var values: [String: Any] = ["focusesPassword": problem?.code == "TOO_WEAK_PASSWORD"]
            values["name"] = name
            return values
        case .review(let identities):
            let shown = identities.map { identity -> [String: Any] in
                [
                    "id": identity.id, "name": identity.name, "date": language.text(of: identity.linkedAt),
                    "isQuarantined": identity.isQuarantined, "isKept": identity.isKept,
                    "isRemoved": identity.isRemoved,
                ]
            }
            return ["identities": shown]
        case .signedOut(let others): return ["others": others]
        case .account(let page):
            return page.values(in: language, problem: problem?.code) {
                templates?.render($0, ["application": application]) ?? ""
            }
        case .deleted(let receipt, let until):
            var values: [String: Any] = ["receipt": receipt, "until": until.map(language.text(ofTime:)) ?? false]
            for name in ["title", "text"] { values[name] = templates?.render("done.deleted.\(name)", [:]) }
            return values
        case .error(let reason, let url):
            var values: [String: Any] = ["error": reason]
            values["text"] = templates?.render("error.\(reason)", [:]) ?? templates?.render("error.other", [:])
            values["url"] = url
            return values
        }
    }

    private func values(of ways: SignIn) -> [String: Any] {
        var values: [String: Any] = [
            "hasField": ways.hasPassword || ways.sendsMail || ways.sendsTexts,
            "hasPassword": ways.hasPassword, "sendsCode": ways.sendsMail || ways.sendsTexts,
            "asksToRemember": ways.asksToRemember, "isRemembered": ways.isRemembered, "canGoBack": ways.canGoBack,
            "isMail": !ways.sendsTexts, "isPhone": ways.sendsTexts && !ways.sendsMail && !ways.hasPassword,
            "isEither": ways.sendsTexts && (ways.sendsMail || ways.hasPassword),
            // After a wrong password the person types it again; otherwise the address is what to correct.
            "focusesPassword": ways.hasPassword && ways.identifier != nil
                && problem.map { ["INVALID_CREDENTIALS", "MISSING_EMAIL_OR_PASSWORD"].contains($0.code) } == true,
        ]
        values["identifier"] = ways.identifier
        values["signIn"] = link(to: "signin")
        if ways.offersSignUp { values["signUp"] = link(to: "signup") }
        values["joining"] = ways.joining
        values["offersQRCode"] = ways.offersQRCode
        values["hasProviders"] = !ways.providers.isEmpty
        values["providers"] = ways.providers.map { provider in
            ["name": provider.name, "displayName": provider.displayName, "url": provider.url]
        }
        if ways.offersReset { values["forgot"] = link(to: "forgot") }
        return values
    }

    private func text(of destination: Consent.Destination) -> String {
        switch destination {
        case .host(let host): host
        case .app(let scheme): text("consent.app", ["scheme": scheme]) ?? scheme
        }
    }

    func values(of account: Account) -> [String: Any] {
        var values: [String: Any] = ["id": account.id, "isSignedIn": account.isSignedIn]
        values["name"] = account.name ?? account.address ?? text("account.guest", [:])
        values["address"] = account.name == nil ? nil : account.address
        return values
    }

    func values(of scopes: [Scope]) -> [[String: Any]] {
        scopes.map { scope in
            switch scope {
            case .resource(let text): ["text": text]
            case .standard(let name, let value):
                [
                    "text": templates?.render("scope.\(name)", [:]) ?? name,
                    "value": value.map { $0 as Any } ?? false,
                ]
            }
        }
    }
}
