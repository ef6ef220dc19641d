import Foundation
import Testing

@testable import Pages

/// The pages as HTML: complete in every language, escaped, small, and free of anything from elsewhere.
struct StepPageTests {
    private static let hostile = "\"><script>alert('x')</script>{{csrf}}"

    private static let account = StepPage.Account(id: "id-1", name: hostile, address: "a@b.example", isSignedIn: true)

    private static var ways: StepPage.SignIn {
        var ways = StepPage.SignIn()
        (ways.identifier, ways.hasPassword, ways.sendsMail, ways.sendsTexts) = (hostile, true, true, true)
        (ways.asksToRemember, ways.canGoBack) = (true, true)
        (ways.offersSignUp, ways.offersReset) = (true, true)
        ways.providers = [.init(name: hostile, displayName: hostile, url: "https://a.example/\(hostile)")]
        ways.joining = hostile
        return ways
    }

    private static var merge: StepPage.Merge {
        let choices = ["current", "other"].map { value in
            var choice = StepPage.Merge.Choice(value: value, account: account, isCurrent: value == "current")
            (choice.moved, choice.taken) = ([hostile, "Google"], [.init(name: "theme", text: hostile)])
            choice.differences = [.init(name: nil, kept: hostile, lost: "Ben")]
            (choice.endedSessions, choice.dropsGuest) = (2, true)
            return choice
        }
        return StepPage.Merge(choices: choices, undoUntil: Date(timeIntervalSince1970: 1_795_000_000))
    }

    private static let codes: [StepPage.Step] = StepPage.QR.State.allCases.map { state in
        var code = StepPage.QR(state, url: "https://a.example/qr?code=\(hostile)")
        (code.number, code.isNumberShown, code.account) = (42, state == .scanned, account)
        (code.isKnown, code.asksToRemember) = (true, true)
        return .qr(code)
    }

    private static let unverified: StepPage.Consent = {
        var consent = StepPage.Consent(
            account: account, destination: .app(scheme: hostile), isForeign: true, scopes: [.resource(hostile)])
        consent.isUnverified = true
        return consent
    }()

    private static let steps: [StepPage.Step] =
        [
            .signIn(ways), .signUp(ways), .secondProof(ways), .secondProof(.init()), .forgot(hostile),
            .welcome(name: hostile, asksForPassword: true), .welcome(name: nil, asksForPassword: false),
            .newOrLink(provider: hostile, mayOpenAccount: true), .newOrLink(provider: hostile, mayOpenAccount: false),
            .newPassword(account), .restore(until: Date(timeIntervalSince1970: 1_800_000_000)),
            .done(.resetSent, next: "https://a.example/\(hostile)"), .code(to: hostile), .reauthenticate(ways, account),
            .accounts([account, StepPage.Account(id: "id-2", name: nil, address: hostile, isSignedIn: false)]),
            .confirm(account),
            .consent(
                StepPage.Consent(
                    account: account, destination: .host(hostile), isForeign: true,
                    scopes: [.standard("email", value: hostile), .standard("openid", value: nil), .resource(hostile)])),
            .device(userCode: hostile), .device(userCode: nil), .deviceConfirm(device(isForeign: true)),
            .deviceConfirm(device(isForeign: false)), .done(.deviceAllowed, next: nil), .done(.deviceDenied, next: nil),
            .consent(unverified), .link(.init(provider: hostile, proof: .mail)),
            .link(.init(provider: hostile, proof: .phone)),
            .link(.init(provider: hostile, proof: .elsewhere(name: "google", url: "https://a.example/\(hostile)"))),
            .conflict(.init(provider: hostile, rule: "identity.in-use", canMerge: true, isOfGuest: true), account),
            .conflict(.init(provider: hostile, rule: "address.in-use", canMerge: true, isOfGuest: false), account),
            .conflict(.init(provider: hostile, rule: "identity.in-use", canMerge: false, isOfGuest: false), account),
            .merge(merge),
            .return(url: "https://a.example/?x=\(hostile)"), .formPost([("state", hostile)], url: "https://a.example"),
            .deleted(receipt: "/r?\(hostile)", restorableUntil: Date(timeIntervalSince1970: 0)),
            .signOut([account, account]), .signedOut(others: false), .signedOut(others: true),
            .verifyEmail, .resetPassword, .invitation(name: hostile), .invitation(name: nil), .recover,
            .review([
                .init(id: "id-1", name: hostile, linkedAt: .distantPast, isQuarantined: true, isKept: true),
                .init(id: "id-2", name: "Apple", linkedAt: .now, isQuarantined: false, isRemoved: true),
            ]),
            .done(.verified, next: nil), .done(.passwordSet, next: nil), .done(.reviewed, next: nil),
            .done(.invited, next: nil),
            .error(reason: "request_over", url: "https://a.example/\(hostile)"),
            .qrOpen([.init(.ios, url: "https://a.example/\(hostile)")]), .qrOpen([]),
        ] + codes + sections.map { .account($0) }

    private static func device(isForeign: Bool) -> StepPage.Device {
        var device = StepPage.Device(
            account: account, userCode: hostile, client: hostile, isForeign: isForeign,
            scopes: [.standard("email", value: hostile), .resource(hostile)], address: hostile)
        if isForeign { (device.place, device.policy, device.terms) = (hostile, "https://a.example/p", nil) }
        return device
    }

    private static let sections: [AccountPage] = {
        let (time, code) = (
            Date(timeIntervalSince1970: 1_795_000_000),
            AccountPage.Code(identity: "i-1", challenge: "c-1", address: hostile, formToken: hostile)
        )
        let identities = [AccountPage.Identity.Change.email, .phone, nil].enumerated().map { number, change in
            AccountPage.Identity(
                id: "i\(number)", provider: hostile, address: hostile, linkedAt: time,
                lastUsedAt: number == 0 ? time : nil, isCurrent: number == 0, isBlocked: number == 1, change: change)
        }
        let sessions = [hostile, nil].enumerated().map { number, device in
            AccountPage.Session(
                id: "s\(number)", device: device, app: number == 0 ? hostile : nil, address: "192.0.2.1",
                createdAt: time,
                lastSeenAt: time, isCurrent: number == 1, isOfCurrent: false)
        }
        let app = AccountPage.App(
            id: "app", name: hostile, scopes: [.standard("email", value: nil), .resource(hostile)], grantedAt: time,
            lastUsedAt: time, lastAddress: "192.0.2.1")
        let merges = [time, nil].map { AccountPage.Merge(id: "m", mergedAt: time, undoUntil: $0) }
        let contents: [AccountPage.Section] = [
            .overview, .name, .language("de"), .password(.new), .password(.change), .password(.impossible),
            .identities(identities, addable: [.init(id: "google", name: hostile)], code: nil),
            .identities(Array(identities.prefix(1)), addable: [], code: code),
            .sessions(sessions, isKept: true), .apps([]), .apps([app]), .merges([]), .merges(merges), .data,
        ]
        return contents.map { content in
            var page = AccountPage(
                content, of: account, isGuest: true, sections: ["name", "data"], base: "https://a.example/account",
                signOut: "https://a.example/oauth/logout")
            (page.isDone, page.typed) = (true, .init(hostile, entry: "i0"))
            return page
        }
    }()

    private static func page(_ step: StepPage.Step, in language: PageLanguage) -> StepPage {
        var page = StepPage(step, in: language, of: hostile)
        (page.client, page.formToken, page.cancel) = (hostile, hostile, "r/cancel")
        page.problem = .init(code: "RATE_LIMITED", retryAfter: 90)
        page.isInWebView = true
        page.links = .init(privacy: "https://a.example/\(hostile)", terms: "https://a.example/t")
        return page
    }

    /// The text of the problem, with a bullet before each remedy.
    private static func problem(in html: String) -> String? {
        html.firstMatch(of: /id="problem"[^>]*>(.*?)<\/p>/).map {
            String($0.output.1).replacing(" <span>", with: " • ").replacing("</span>", with: "")
        }
    }

    @Test(arguments: PageLanguage.allCases)
    func `every language has the same texts, with the same values`(language: PageLanguage) {
        let (english, texts) = (PageTemplates.texts(of: .en), PageTemplates.texts(of: language))
        #expect(english.count > 60 && Set(texts.keys) == Set(english.keys))
        // Texts and templates have one space of names; a page that contains a text of its own name would not end.
        #expect(texts.keys.allSatisfy { EmbeddedFiles.all["Templates/\($0).html"] == nil })
        for (key, text) in texts {
            let values = { (text: String) in text.matches(of: /\{\{\w+\}\}/).map { String($0.output) }.sorted() }
            #expect(values(text) == values(english[key] ?? ""), "\(language) \(key)")
            let remedies = { (text: String) in text.split(separator: " • ").count }
            #expect(remedies(text) == remedies(english[key] ?? ""), "\(language) \(key)")
        }
        let lines = EmbeddedFiles.all["Texts/\(language).text"]?.matches(of: #/(?m)^[^#].* = /#).count
        #expect(lines == texts.count, "A key is there twice")
    }

    @Test(arguments: PageLanguage.allCases)
    func `each text has one line, in the order of the keys`(language: PageLanguage) throws {
        let file = try #require(EmbeddedFiles.all["Texts/\(language.rawValue).text"])
        let keys = file.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { $0.prefix { $0 != " " } }
        #expect(zip(keys, keys.dropFirst()).allSatisfy { $0.utf8.lexicographicallyPrecedes($1.utf8) })
    }

    @Test func `French texts have one apostrophe, and one word for an app and for what restores an account`() {
        for (key, text) in PageTemplates.texts(of: .fr) {
            #expect(!text.contains("'") && !text.contains(/[Aa]ppli\b/) && !text.contains("rétabli"), "\(key)")
        }
    }

    @Test func `no text has the name of a template, which would be included instead`() {
        let templates = EmbeddedFiles.all.keys.compactMap { $0.firstMatch(of: /Templates\/(.*)\.html/)?.output.1 }
        #expect(templates.count > 15 && templates.allSatisfy { PageTemplates.texts(of: .en)[String($0)] == nil })
    }

    @Test(arguments: PageLanguage.allCases)
    func `every step has a title, its machine name and all its texts`(language: PageLanguage) throws {
        for step in Self.steps {
            let html = Self.page(step, in: language).page.html
            #expect(html.hasPrefix("<!doctype html>\n<html lang=\"\(language.rawValue)\">"), "\(step.name)")
            #expect(html.contains("<main data-step=\"\(step.name)\""), "\(step.name)")
            #expect(html.matches(of: /<h1>[^<]+<\/h1>/).count == 1, "\(step.name)")
            #expect(!html.contains(/<(p|button|label|a)[^>]*>\s*<\/\1>/), "\(step.name): \(html)")
            #expect(html.utf8.count <= 24 * 1024, "\(step.name)")
        }
    }

    @Test func `values are escaped, and never read as a template`() {
        for step in Self.steps {
            let html = Self.page(step, in: .en).page.html
            #expect(!html.contains("<script>alert") && !html.contains("\"><script"), "\(step.name)")
            #expect(html.contains("&quot;&gt;&lt;script&gt;"), "\(step.name)")
        }
    }

    @Test func `no page loads anything, and only the answer's form and the code's page run a script`() throws {
        for step in Self.steps {
            let page = Self.page(step, in: .en).page
            let policy = page.contentSecurityPolicy
            for rule in ["default-src 'none'", "base-uri 'none'", "frame-ancestors 'none'"] {
                #expect(policy.contains(rule), "\(step.name)")
            }
            #expect(!page.html.contains(/\s(src|on\w+|style)=/) && !page.html.contains(/<(img|iframe)\b/))
            // Without an icon, browsers ask for one.
            #expect(page.html.matches(of: /<link\b[^>]*>/).map(\.output) == ["<link rel=\"icon\" href=\"data:,\">"])
            if case .qr = step {
                #expect(policy.contains("form-action 'self'") && policy.contains("script-src 'nonce-"), "\(step.name)")
                #expect(policy.contains("connect-src 'self'"))
                continue
            }
            guard case .formPost = step else {
                #expect(policy.contains("form-action 'self'") && policy.contains("script-src 'none'"), "\(step.name)")
                continue
            }
            #expect(!policy.contains("form-action") && policy.contains("script-src 'nonce-"))
        }
    }

    @Test func `each field has a label, and a problem is announced and described`() {
        for step in Self.steps {
            let html = Self.page(step, in: .en).page.html
            for field in html.matches(of: /<input id="([\w-]+)"/) {
                #expect(html.contains("<label for=\"\(field.output.1)\">"), "\(step.name) \(field.output.1)")
            }
            #expect(html.contains("<p role=\"alert\" id=\"problem\" data-code=\"RATE_LIMITED\" class=\"bad\">"))
            #expect(html.matches(of: /autofocus/).count <= 1, "\(step.name)")
        }
        #expect(Self.page(.signIn(Self.ways), in: .en).page.html.contains("Wait 2 min"))
    }

    @Test(arguments: PageLanguage.allCases)
    func `every page links to the operator's pages, in the person's language`(language: PageLanguage) throws {
        let texts = PageTemplates.texts(of: language)
        for step in Self.steps {
            let html = Self.page(step, in: language).page.html
            let footer = try #require(html.firstMatch(of: /<footer>(.*)<\/footer>/)?.output.1)
            #expect(footer.contains("rel=\"privacy-policy noopener\">\(texts["link.privacy"] ?? "-")</a>"))
            #expect(footer.contains("href=\"https://a.example/t\"") && !footer.contains("rel=\"help"))
        }
        #expect(!StepPage(.signOut([]), in: language, of: "a").page.html.contains("<footer>"))
    }

    @Test(arguments: PageLanguage.allCases)
    func `the word that confirms a deletion is the language's`(language: PageLanguage) {
        let word = PageTemplates.texts(of: language)["account.data.word"] ?? ""
        #expect(StepPage.confirms(deletion: " \(word.lowercased())", in: language))
        #expect(!StepPage.confirms(deletion: "", in: language) && !StepPage.confirms(deletion: "x", in: language))
    }

    @Test func `a refusal says what its rule asks of the person, if it has a text of its own`() {
        func shown(_ code: String, rule: String?) -> String? {
            var page = StepPage(.signIn(Self.ways), in: .en, of: Self.hostile)
            page.problem = .init(code: code, rule: rule)
            return Self.problem(in: page.page.html)
        }
        let texts = PageTemplates.texts(of: .en)
        for rule in ["identity.quarantined", "number.idle"] {
            let text = texts["problem.SECOND_PROOF_REQUIRED.\(rule)"]
            #expect(text != nil && shown("SECOND_PROOF_REQUIRED", rule: rule) == text)
        }
        for rule in [nil, "account.new"] {
            #expect(shown("SECOND_PROOF_REQUIRED", rule: rule) == texts["problem.SECOND_PROOF_REQUIRED"])
        }
        for rule in ["provider.off", "provider.link-only", "provider.no-sign-up"] {
            #expect(texts["problem.PROVIDER_DISABLED.\(rule)"] != nil)
        }
        #expect(shown("PROVIDER_DISABLED", rule: "provider.off")?.contains("&lt;script&gt;") == true)
        #expect(shown("NEW_CODE", rule: "provider.off") == texts["problem.other"])
    }

    @Test func `a refusal of what was typed names every reason, and one of a link says what to do with it`() {
        var page = StepPage(.resetPassword, in: .en, of: "a")
        func shown() -> String? {
            Self.problem(in: page.page.html)
        }
        let texts = PageTemplates.texts(of: .en)
        page.problem = .init(code: "TOO_WEAK_PASSWORD", reasons: ["tooShort", "tooGuessable", "new"])
        let reasons = ["tooShort", "tooGuessable"].compactMap { texts["problem.TOO_WEAK_PASSWORD.\($0)"] }
        #expect(shown()?.replacing("&#39;", with: "'") == reasons.joined(separator: " ") && reasons.count == 2)
        page.problem = .init(code: "TOO_WEAK_PASSWORD", reasons: ["new"])
        #expect(shown() == texts["problem.TOO_WEAK_PASSWORD"])
        page.problem = .init(code: "INVALID_TOKEN")
        #expect(shown() == texts["problem.INVALID_TOKEN.reset-password"])
        #expect(
            page.page.html.contains(/<h1>[^<]+<\/h1>/) && !page.page.html.contains("<form"), "no form without its token"
        )
    }

    @Test func `a problem marks a field only if it is about what was typed`() {
        let mark = "aria-invalid=\"true\""
        for step in Self.steps {
            #expect(!Self.page(step, in: .en).page.html.contains(mark), "\(step.name): RATE_LIMITED")
        }
        func marks(_ step: StepPage.Step, _ problem: StepPage.Problem) -> Int {
            var page = Self.page(step, in: .en)
            page.problem = problem
            return page.page.html.matches(of: /autocomplete="([a-z-]+)"[^>]* aria-describedby="problem" aria-invalid/)
                .count
        }
        #expect(marks(.secondProof(Self.ways), .init(code: "SECOND_PROOF_REQUIRED", rule: "number.idle")) == 0)
        #expect(marks(.signIn(Self.ways), .init(code: "PROVIDER_UNAVAILABLE")) == 0)
        let foreign = StepPage.Problem(code: "INVALID_CREDENTIALS", rule: "reauthentication.foreign")
        #expect(marks(.reauthenticate(Self.ways, Self.account), foreign) == 0)
        for step in [StepPage.Step.signIn(Self.ways), .reauthenticate(Self.ways, Self.account), .code(to: "x")] {
            #expect(marks(step, .init(code: "INVALID_CREDENTIALS")) == 1, "\(step.name)")
        }
        for step in [StepPage.Step.newPassword(Self.account), .invitation(name: "Ada"), .recover] {
            #expect(marks(step, .init(code: "TOO_WEAK_PASSWORD")) == 1, "\(step.name)")
        }
    }

    @Test func `the first available language of the preferences is used`() {
        #expect(PageLanguage(preferences: [nil, "xx", "fr-CA"]) == .fr)
        #expect(PageLanguage(preferences: ["de", "fr"]) == .de)
        #expect(PageLanguage(preferences: ["it, es;q=0.5, de;q=0.7"]) == .de)
        #expect(PageLanguage(preferences: []) == .en)
    }

    @Test(arguments: PageLanguage.allCases)
    func `a page in a web view of an app warns of it, in the person's language`(language: PageLanguage) throws {
        let warning = try #require(PageTemplates.texts(of: language)["webView.text"])
        for isInWebView in [true, false] {
            var page = StepPage(.signIn(Self.ways), in: language, of: "Demo")
            page.isInWebView = isInWebView
            let notes = page.page.html.matches(of: /<p role="note" id="web-view">([^<]+)<\/p>/)
            #expect(notes.map { String($0.output.1) } == (isInWebView ? [warning] : []))
        }
        #expect(language == .en || warning != PageTemplates.texts(of: .en)["webView.text"])
    }

    @Test func `links to other languages keep the page that a link has led to`() throws {
        let html = Self.page(.signIn(Self.ways), in: .de).page.html
        #expect(html.contains("<a id=\"signup\" href=\"?step=signup\">"))
        #expect(html.contains("<a id=\"forgot\" href=\"?step=forgot\">"))
        #expect(html.contains("<a href=\"?lang=fr\""))
        var other = Self.page(.forgot(nil), in: .de)
        other.linkedPage = "forgot"
        #expect(other.page.html.contains("<a href=\"?step=forgot&amp;lang=fr\""))
    }

    @Test(arguments: [
        (PageLanguage.en, "15 January 2027"), (.de, "15. Januar 2027"), (.fr, "15 janvier 2027"),
        (.es, "15 de enero de 2027"),
    ])
    func `dates are written in the page's language, and no line break divides them`(
        language: PageLanguage, text: String
    ) {
        let date = Date(timeIntervalSince1970: 1_800_000_000)
        let day = text.replacing(" ", with: "\u{A0}")
        #expect(Self.page(.restore(until: date), in: language).page.html.contains(day))
        #expect(language.text(ofTime: date) == "\(day), 08:00\u{A0}UTC")
    }

    @Test(arguments: PageLanguage.allCases)
    func `an account without a name and an address is a guest's`(language: PageLanguage) throws {
        let guest = StepPage.Account(id: "id-1", name: nil, address: nil, isSignedIn: true)
        let name = try #require(PageTemplates.texts(of: language)["account.guest"])
        for step in [StepPage.Step.accounts([guest]), .signOut([guest]), .signOut([guest, guest]), .confirm(guest)] {
            #expect(Self.page(step, in: language).page.html.contains("<strong>\(name)</strong>"), "\(step.name)")
        }
        #expect(Self.page(.reauthenticate(.init(), guest), in: language).page.html.contains("value=\"\(name)\""))
    }

    @Test(arguments: PageLanguage.allCases)
    func `a deadline is shown with its time`(language: PageLanguage) {
        let time = Date(timeIntervalSince1970: 1_795_000_000)
        let steps: [StepPage.Step] = [
            .restore(until: time), .deleted(receipt: "/r", restorableUntil: time), .merge(Self.merge),
        ]
        for step in steps {
            #expect(Self.page(step, in: language).page.html.contains(language.text(ofTime: time)), "\(step.name)")
        }
    }

    @Test func `a problem has the text of its reasons, of its rule, of its page or of its code`() {
        func text(_ problem: StepPage.Problem) -> String {
            var page = Self.page(.welcome(name: nil, asksForPassword: true), in: .en)
            page.problem = problem
            return Self.problem(in: page.page.html) ?? ""
        }
        let texts = PageTemplates.texts(of: .en)
        #expect(
            text(.init(code: "TOO_WEAK_PASSWORD", reasons: ["tooShort", "tooGuessable"]))
                == "\(texts["problem.TOO_WEAK_PASSWORD.tooShort"] ?? "") \(texts["problem.TOO_WEAK_PASSWORD.tooGuessable"] ?? "")"
        )
        #expect(text(.init(code: "INVALID_PARAMETER")) == texts["problem.INVALID_PARAMETER.welcome"])
        #expect(text(.init(code: "SECOND_PROOF_REQUIRED", rule: "number.idle")).contains("new owner"))
        #expect(text(.init(code: "INVALID_CREDENTIALS", rule: "unknown")) == texts["problem.INVALID_CREDENTIALS"])
        #expect(text(.init(code: "SOMETHING")) == texts["problem.other"])
    }

    @Test(arguments: StepPage.QR.State.allCases, PageLanguage.allCases)
    func `the page with a code shows what its state needs alone`(state: StepPage.QR.State, language: PageLanguage) {
        var code = StepPage.QR(state, url: "https://a.example/qr?code=c0de")
        (code.number, code.account, code.asksToRemember) = (42, Self.account, true)
        func html(_ change: (inout StepPage) -> Void = { _ in }) -> String {
            var page = StepPage(.qr(code), in: language, of: "Demo")
            page.formToken = "token"
            change(&page)
            return page.page.html
        }
        let shown = html()
        #expect(shown.contains("<main data-step=\"qr\" data-state=\"\(state.rawValue)\""))
        #expect(shown.contains("<svg") == (state == .waiting) && shown.contains("code=c0de") == (state == .waiting))
        #expect(shown.contains("<strong id=\"number\">42<") == (state == .scanned))
        #expect(shown.contains("value=\"finish\"") == (state == .confirmed))
        #expect(shown.contains("a@b.example") == (state == .confirmed))
        let isOver = [.refused, .expired, .used].contains(state)
        #expect(shown.contains("value=\"again\"") == isOver && shown.contains("<script") == !isOver)
        #expect(shown.contains("http-equiv=\"refresh\"") == [.waiting, .scanned].contains(state))
        #expect(shown.contains("value=\"back\"") && !shown.contains(" data-submit>"))
        code.isKnown = true
        #expect(html().contains(" data-submit>") == (state == .confirmed))
        #expect(!html { $0.problem = .init(code: "QR_EXPIRED") }.contains(" data-submit>"), "it would never end")
    }
}
