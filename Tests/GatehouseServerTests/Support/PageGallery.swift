import Foundation
import Pages

/// Sample pages of every step: with short and with long values, with and without a problem.
enum PageGallery {
    struct Sample: Sendable {
        let name: String
        let step: StepPage.Step
        var problem: StepPage.Problem?
        var client: String?
        var isCancellable = false
        var isInWebView = false
    }

    /// All samples in a language, as an application of somebody else's would show them.
    static func page(of sample: Sample, in language: PageLanguage) -> StepPage {
        var page = StepPage(sample.step, in: language, of: "Nordlicht")
        (page.problem, page.client) = (sample.problem, sample.client)
        page.formToken = "Zm9ybSB0b2tlbiBvZiB0aGUgZ2FsbGVyeQ"
        page.links = .init(
            privacy: "https://nordlicht.example/privacy", terms: "https://nordlicht.example/terms",
            support: "https://nordlicht.example/help")
        page.isInWebView = sample.isInWebView
        if sample.isCancellable { page.cancel = "r/cancel" }
        return page
    }

    static let samples: [Sample] = [signIn, decisions, linking, mailed, ends, account].flatMap { $0 }

    // MARK: - Signing in

    private static let longName = "Wilhelmina Anneliese von Hohenstein-Rautenberg zu Schwarzenfels"
    private static let longAddress = "wilhelmina.anneliese.von.hohenstein-rautenberg@buchhaltung.nordlicht.example"

    private static let ada = StepPage.Account(
        id: "1", name: "Ada Lovelace", address: "ada@nordlicht.example", isSignedIn: true)
    private static let wilhelmina = StepPage.Account(
        id: "2", name: longName, address: longAddress, isSignedIn: false)
    private static let unnamed = StepPage.Account(
        id: "3", name: nil, address: "+4915112345678", isSignedIn: true)

    private static func ways(_ change: (inout StepPage.SignIn) -> Void = { _ in }) -> StepPage.SignIn {
        var ways = StepPage.SignIn()
        (ways.hasPassword, ways.sendsMail, ways.asksToRemember) = (true, true, true)
        (ways.offersSignUp, ways.offersReset) = (true, true)
        ways.providers = [
            .init(name: "google", displayName: "Google", url: "r/with/google"),
            .init(name: "apple", displayName: "Apple", url: "r/with/apple"),
            .init(name: "campus", displayName: "Rheinisch-Westfälische Hochschule", url: "r/with/campus"),
        ]
        change(&ways)
        return ways
    }

    private static func qr(_ state: StepPage.QR.State, _ change: (inout StepPage.QR) -> Void) -> StepPage.QR {
        var code = StepPage.QR(
            state, url: "https://anmeldung.nordlicht.example/qr?code=3f0a4e69-0c5e-4ae5-8d30-99c359b8270f")
        change(&code)
        return code
    }

    private static let signIn: [Sample] = [
        Sample(name: "signin", step: .signIn(ways()), client: "Fotoalbum", isCancellable: true),
        Sample(
            name: "signin-problem",
            step: .signIn(
                ways {
                    ($0.identifier, $0.sendsTexts, $0.canGoBack) = (longAddress, true, true)
                    $0.isRemembered = true
                }), problem: .init(code: "INVALID_CREDENTIALS")),
        Sample(
            name: "signin-web-view", step: .signIn(ways()), client: "Fotoalbum", isCancellable: true,
            isInWebView: true),
        Sample(
            name: "signin-code-only",
            step: .signIn(
                ways {
                    ($0.hasPassword, $0.sendsMail, $0.sendsTexts, $0.offersReset) = (false, false, true, false)
                    $0.joining = "Google"
                }), problem: .init(code: "SECOND_PROOF_REQUIRED", rule: "identity.quarantined")),
        Sample(
            name: "signup", step: .signUp(ways { ($0.hasPassword, $0.offersReset) = (false, false) }),
            isCancellable: true),
        Sample(
            name: "signup-problem",
            step: .signUp(ways { ($0.hasPassword, $0.identifier) = (false, "ada@") }),
            problem: .init(code: "INVALID_PARAMETER")),
        Sample(name: "code", step: .code(to: longAddress), isCancellable: true),
        Sample(
            name: "code-problem", step: .code(to: "+4915112345678"),
            problem: .init(code: "RATE_LIMITED", retryAfter: 90)),
        Sample(
            name: "qr",
            step: .qr(qr(.waiting) { _ in }), client: "Fotoalbum", isCancellable: true),
        Sample(name: "qr-scanned", step: .qr(qr(.scanned) { $0.number = 42 }), isCancellable: true),
        Sample(
            name: "qr-compared",
            step: .qr(qr(.scanned) { ($0.number, $0.isNumberShown) = (99, true) })),
        Sample(
            name: "qr-confirmed",
            step: .qr(qr(.confirmed) { ($0.account, $0.asksToRemember) = (wilhelmina, true) }), client: "Fotoalbum"),
        Sample(name: "qr-refused", step: .qr(qr(.refused) { _ in })),
        Sample(name: "qr-expired", step: .qr(qr(.expired) { _ in }), problem: .init(code: "QR_EXPIRED")),
        Sample(name: "qr-used", step: .qr(qr(.used) { _ in })),
        Sample(
            name: "qr-open",
            step: .qrOpen([.init(.ios, url: "https://apps.example/1"), .init(.android, url: "https://apps.example/2")])),
        Sample(name: "forgot", step: .forgot(nil)),
        Sample(
            name: "forgot-problem", step: .forgot("ada@nordlicht.example"),
            problem: .init(code: "RATE_LIMITED", retryAfter: 90)),
        Sample(name: "reauthenticate", step: .reauthenticate(ways { $0.identifier = longAddress }, wilhelmina)),
        Sample(
            name: "reauthenticate-problem", step: .reauthenticate(ways { $0.identifier = longAddress }, wilhelmina),
            problem: .init(code: "INVALID_CREDENTIALS"), client: "Fotoalbum", isCancellable: true),
        Sample(
            name: "second-proof", step: .secondProof(ways()),
            problem: .init(code: "SECOND_PROOF_REQUIRED", rule: "number.idle")),
    ]

    // MARK: - What a proof leads to

    private static let decisions: [Sample] = [
        Sample(name: "new-or-link", step: .newOrLink(provider: "Google", mayOpenAccount: true), isCancellable: true),
        Sample(name: "welcome", step: .welcome(name: nil, asksForPassword: false)),
        Sample(
            name: "welcome-problem", step: .welcome(name: longName, asksForPassword: true),
            problem: .init(code: "TOO_WEAK_PASSWORD", reasons: ["tooGuessable", "tooShort"])),
        Sample(name: "new-password", step: .newPassword(ada)),
        Sample(
            name: "new-password-problem", step: .newPassword(wilhelmina),
            problem: .init(code: "TOO_WEAK_PASSWORD", reasons: ["tooGuessable", "tooShort"])),
        Sample(name: "restore", step: .restore(until: date(daysAgo: -14)), isCancellable: true),
        Sample(name: "accounts", step: .accounts([ada, unnamed]), client: "Fotoalbum"),
        Sample(
            name: "accounts-many",
            step: .accounts(
                [ada, wilhelmina, unnamed]
                    + (4...10).map { number in
                        StepPage.Account(
                            id: "\(number)", name: "\(longName) \(number)", address: longAddress,
                            isSignedIn: number % 2 == 0)
                    }), isCancellable: true),
        Sample(name: "confirm", step: .confirm(wilhelmina), client: "Fotoalbum", isCancellable: true),
        Sample(name: "consent", step: .consent(consent), client: "Fotoalbum", isCancellable: true),
        Sample(name: "device", step: .device(userCode: "WDJB-MJHT"), isCancellable: true),
        Sample(
            name: "device-problem", step: .device(userCode: "WDJB"), problem: .init(code: "INVALID_CREDENTIALS")),
        Sample(name: "device-confirm", step: .deviceConfirm(device), isCancellable: true),
    ]

    private static var device: StepPage.Device {
        var device = StepPage.Device(
            account: wilhelmina, userCode: "WDJB-MJHT", client: "Werkstatt Sonnenschein Fernsehempfänger",
            isForeign: true, scopes: consent.scopes, address: "2001:db8:85a3:8d3:1319:8a2e:370:7348")
        device.place = "Schwarzenfels an der Rautenberger Ache, Oberösterreich, Österreich"
        (device.policy, device.terms) = ("https://fotoalbum.example/privacy", "https://fotoalbum.example/terms")
        return device
    }

    private static var consent: StepPage.Consent {
        var consent = StepPage.Consent(
            account: wilhelmina, destination: .host("fotoalbum.werkstatt-sonnenschein.example"), isForeign: true,
            scopes: [
                .standard("openid", value: nil), .standard("profile", value: longName),
                .standard("email", value: longAddress), .standard("phone", value: "+4915112345678"),
                .standard("offline_access", value: nil), .resource("Read and change the albums that you share"),
            ])
        consent.isUnverified = true
        (consent.policy, consent.terms) = ("https://fotoalbum.example/privacy", "https://fotoalbum.example/terms")
        return consent
    }

    // MARK: - Linking and merging

    private static let linking: [Sample] = [
        Sample(
            name: "link",
            step: .link(.init(provider: "Google", proof: .elsewhere(name: "google", url: "r/with/google")))),
        Sample(
            name: "link-problem", step: .link(.init(provider: "E-Mail", proof: .mail)),
            problem: .init(code: "LIMIT_REACHED", rule: "account.full"), isCancellable: true),
        Sample(
            name: "conflict",
            step: .conflict(
                .init(provider: "Google", rule: "identity.in-use", canMerge: true, isOfGuest: false), wilhelmina)),
        Sample(
            name: "conflict-guest",
            step: .conflict(
                .init(provider: "Google", rule: "address.in-use", canMerge: true, isOfGuest: true), unnamed)),
        Sample(
            name: "merge", step: .merge(.init(choices: choices, undoUntil: date(daysAgo: -30))),
            problem: .init(code: "LAST_USABLE_IDENTITY")),
    ]

    private static var choices: [StepPage.Merge.Choice] {
        var here = StepPage.Merge.Choice(value: "ours", account: wilhelmina, isCurrent: true)
        (here.isPreferred, here.moved) = (true, ["Google ada@nordlicht.example", "+4915112345678"])
        here.differences = [.init(name: nil, kept: longName, lost: "Ada Lovelace")]
        here.endedSessions = 3
        var there = StepPage.Merge.Choice(value: "theirs", account: ada, isCurrent: false)
        (there.taken, there.dropsGuest) = ([.init(name: nil, text: longName)], true)
        return [here, there]
    }

    // MARK: - Mailed links

    private static let mailed: [Sample] = [
        Sample(name: "verify-email", step: .verifyEmail),
        Sample(name: "verify-email-problem", step: .verifyEmail, problem: .init(code: "INVALID_CREDENTIALS")),
        Sample(name: "reset-password", step: .resetPassword),
        Sample(
            name: "reset-password-problem", step: .resetPassword,
            problem: .init(code: "TOO_WEAK_PASSWORD", reasons: ["tooGuessable", "tooShort"])),
        Sample(name: "invitation", step: .invitation(name: longName)),
        Sample(
            name: "invitation-problem", step: .invitation(name: nil),
            problem: .init(code: "TOO_WEAK_PASSWORD", reasons: ["tooShort"])),
        Sample(name: "recover", step: .recover),
        Sample(name: "recover-over", step: .recover, problem: .init(code: "INVALID_TOKEN")),
        Sample(
            name: "review",
            step: .review([
                .init(id: "1", name: longAddress, linkedAt: date(daysAgo: 400), isQuarantined: true),
                .init(id: "2", name: "Google (ada)", linkedAt: date(daysAgo: 3), isQuarantined: false, isKept: true),
            ])),
    ]

    // MARK: - Ends

    private static let ends: [Sample] =
        [
            Sample(name: "return", step: .return(url: "https://fotoalbum.example/callback?code=c")),
            Sample(name: "form-post", step: .formPost([("code", "c")], url: "https://fotoalbum.example/callback")),
            Sample(name: "signout", step: .signOut([ada])),
            Sample(name: "signout-many", step: .signOut([ada, wilhelmina, unnamed])),
            Sample(name: "signed-out", step: .signedOut(others: true)),
            Sample(name: "error", step: .error(reason: "request_over", url: "https://fotoalbum.example")),
        ]
        + [
            Sample(
                name: "done-deleted",
                step: .deleted(receipt: "/deletions/receipt", restorableUntil: date(daysAgo: -14)))
        ]
        + StepPage.Done.allCases.map { Sample(name: "done-\($0)", step: .done($0, next: "signin")) }

    // MARK: - The account

    private static let now = Date(timeIntervalSince1970: 1_764_000_000)
    private static func date(daysAgo days: Double) -> Date { now - days * 86_400 }

    private static let sections = [
        "name", "language", "password", "identities", "sessions", "apps", "merges", "data",
    ]

    private static func account(
        _ name: String, _ section: AccountPage.Section, of account: StepPage.Account = wilhelmina,
        problem: StepPage.Problem? = nil, change: (inout AccountPage) -> Void = { _ in }
    ) -> Sample {
        var page = AccountPage(
            section, of: account, isGuest: name == "guest", sections: sections, base: "/account",
            signOut: "/oauth/logout")
        change(&page)
        return Sample(name: "account-\(name)", step: .account(page), problem: problem)
    }

    private static let account: [Sample] = [
        account("overview", .overview),
        account("guest", .overview, of: .init(id: "4", name: nil, address: nil, isSignedIn: true)),
        account("name", .name, of: ada) { $0.isDone = true },
        account("name-problem", .name, problem: .init(code: "INVALID_PARAMETER")),
        account("language", .language("de")),
        account("password", .password(.change)),
        account("password-new", .password(.new), problem: .init(code: "TOO_WEAK_PASSWORD", reasons: ["tooGuessable"])),
        account("password-impossible", .password(.impossible)),
        account("identities", .identities(Array(identities.prefix(3)), addable: addable, code: nil), of: ada),
        account("identities-many", .identities(identities, addable: addable, code: nil)) { $0.number = 2 },
        account("identities-one", .identities(Array(identities.prefix(1)), addable: [], code: nil), of: ada),
        account(
            "identities-problem", .identities(Array(identities.prefix(3)), addable: addable, code: nil),
            problem: .init(code: "LAST_USABLE_IDENTITY", rule: "identity.last-usable")),
        account(
            "identities-code",
            .identities(
                Array(identities.prefix(2)), addable: addable,
                code: .init(identity: "1", challenge: "c", address: longAddress, formToken: "t"))),
        account("sessions", .sessions(sessions, isKept: true)),
        account("apps", .apps(apps)),
        account("apps-none", .apps([])),
        account("merges", .merges(merges)),
        account("merges-none", .merges([])),
        account("data", .data),
        account("data-problem", .data, problem: .init(code: "MISSING_PARAMETER")),
    ]

    private static let identities = (0..<50).map { (number: Int) -> AccountPage.Identity in
        let providers = ["E-Mail", "Google", "Rheinisch-Westfälische Hochschule"]
        let addresses = [longAddress, "ada@nordlicht.example", nil]
        return AccountPage.Identity(
            id: "\(number)", provider: providers[number % 3], address: addresses[number % 3],
            linkedAt: date(daysAgo: 400), lastUsedAt: number % 4 == 3 ? nil : date(daysAgo: 2),
            isCurrent: number % 10 == 0, isBlocked: number % 10 == 1, change: number % 3 == 0 ? .email : nil)
    }

    private static let addable = ["google", "phone"].map { AccountPage.Provider(id: $0, name: "Nordlicht \($0)") }

    private static let sessions = (0..<10).map { (number: Int) -> AccountPage.Session in
        let devices = ["Firefox, Linux", "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko)", nil]
        return AccountPage.Session(
            id: "\(number)", device: devices[number % 3], app: number % 2 == 0 ? nil : "Fotoalbum",
            address: number % 2 == 0 ? "203.0.113.24" : "2001:db8:85a3:8d3:1319:8a2e:370:7348",
            createdAt: date(daysAgo: 40), lastSeenAt: date(daysAgo: 1), isCurrent: number == 0, isOfCurrent: number == 2
        )
    }

    private static let apps = ["Fotoalbum", "Werkstatt Sonnenschein Auftragsverwaltung", "CLI"].map { name in
        AccountPage.App(
            id: name, name: name,
            scopes: [.standard("openid", value: nil), .standard("email", value: nil), .resource("Read your albums")],
            grantedAt: date(daysAgo: 200), lastUsedAt: name == "CLI" ? nil : date(daysAgo: 1),
            lastAddress: name == "CLI" ? nil : "2001:db8:85a3:8d3:1319:8a2e:370:7348")
    }

    private static let merges = [
        AccountPage.Merge(id: "1", mergedAt: date(daysAgo: 10), undoUntil: date(daysAgo: -20)),
        AccountPage.Merge(id: "2", mergedAt: date(daysAgo: 100), undoUntil: nil),
    ]
}
