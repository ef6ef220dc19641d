import Foundation
import Testing

@testable import OpenID

/// What an authorization request needs next, in every situation that can be made of the cases below.
///
/// The expected answers come from `Rule`, a list of conditions and answers that is written down on its own.
struct NextStepTests {
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)

    /// One combination of all that the decision depends on.
    struct Case: CustomStringConvertible, Sendable {
        var sessions = [SessionCase.plain]
        var prompt: ClientRequest.Prompt?
        var maxAge: Int?
        var hint = Hint.none
        var levels: [String]?
        var client = ClientCase.firstParty
        var progress = ProgressCase.none

        var description: String {
            "\(sessions) \(prompt.map(\.rawValue) ?? "-") \(maxAge.map(String.init) ?? "-") \(hint) \(levels ?? []) \(client) \(progress)"
        }
    }

    /// A session of the browser, authenticated 100 seconds ago; `mustChangeLate` 400, which is too old for a password.
    enum SessionCase: CaseIterable { case plain, guest, mustChange, mustChangeLate, consented, usedBefore }
    /// Which session the request names, by a subject that it requires or by a login hint.
    ///
    /// `unreadable` is a login hint that is no address.
    enum Hint: CaseIterable { case none, unreadable, requiresFirst, requiresOther, prefersFirst, prefersOther }
    ///
    /// `foreign` is an installation of an app on which somebody else has signed in.
    enum ClientCase: CaseIterable { case firstParty, thirdParty, guests, native, nativeWithoutConfirm, foreign }
    /// In all but the first, the person has chosen the first session.
    ///
    /// What names another session happened to that before. In the last, the person asked to sign in with another account.
    enum ProgressCase: CaseIterable {
        case none, chosen, proven, confirmed, consented, provenOther, confirmedOther, consentedOther, wantsOther
    }

    static let sessionLists: [[SessionCase]] =
        [[]] + SessionCase.allCases.map { [$0] } + [[.plain, .usedBefore], [.consented, .plain]]

    /// All combinations; nothing happens in pages with `prompt=none`.
    static var examples: [Case] {
        var examples = sessionLists.map { Case(sessions: $0) }
        func vary<Value>(_ path: WritableKeyPath<Case, Value>, _ values: [Value]) {
            examples = examples.flatMap { example in
                values.map { value in
                    var example = example
                    example[keyPath: path] = value
                    return example
                }
            }
        }
        vary(\.prompt, [nil] + ClientRequest.Prompt.allCases)
        vary(\.maxAge, [nil, 0, 50, 500])
        vary(\.hint, Hint.allCases)
        vary(\.levels, [nil, ["1"], ["2"], ["0", "1"]])
        vary(\.client, ClientCase.allCases)
        vary(\.progress, ProgressCase.allCases)
        return examples.filter { $0.prompt != ClientRequest.Prompt.none || $0.progress == .none }
    }

    @Test func `every situation has the answer of the first rule that applies`() {
        var count = 0
        var seen: Set<String> = []
        for example in Self.examples {
            let answer = Self.name(nextStep(for: Self.situation(example)))
            let expected = Rule.answer(to: example)
            count += 1
            seen.insert(expected)
            guard answer == expected else {
                Issue.record("\(example): \(answer), not \(expected)")
                return
            }
        }
        #expect(count > 30_000)
        #expect(
            seen == [
                "signin", "signup", "accounts", "reauthenticate", "new-password", "confirm", "consent", "finish 0",
                "finish 1", "login_required",
                "interaction_required", "consent_required", "account_selection_required",
                "unmet_authentication_requirements", "access_denied",
            ])
    }

    @Test func `a request that always asks does so whatever the browser's sessions are`() {
        let situations = Self.examples.filter { $0.progress == .none }.map(Self.situation).filter(\.request.alwaysAsks)
        #expect(situations.count > 1000)
        let silent = situations.filter { if case .ask = nextStep(for: $0) { false } else { true } }
        #expect(silent.isEmpty)
    }

    private static func id(_ index: Int) -> UUID {
        UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(index)))
    }

    private static func situation(_ example: Case) -> RequestSituation {
        let native = [.native, .nativeWithoutConfirm, .foreign].contains(example.client)
        let uri = native ? "com.example.app:/cb" : "https://app.example/cb"
        var client = OAuthClient(id: "app", names: ["": "App"])
        client.redirectURIs = [try? ClientRedirectURI(uri)].compactMap { $0 }
        client.isFirstParty = example.client != .thirdParty
        client.allowsGuests = example.client == .guests
        client.asksToConfirm = example.client != .nativeWithoutConfirm
        if example.client == .foreign {
            client.origin = .instance(
                ClientInstance(software: "CSI", deviceType: "ipad", deviceName: nil, account: id(8), session: id(8)))
        }
        var request = ClientRequest(
            clientID: "app", returnAddress: ReturnAddress(redirectURI: uri), scopes: ["openid", "email"])
        request.prompts = Set([example.prompt].compactMap { $0 })
        request.maxAge = example.maxAge
        request.claims.essentialLevels = example.levels
        if [.requiresFirst, .requiresOther].contains(example.hint) { request.subject = "somebody" }
        if [.prefersFirst, .prefersOther].contains(example.hint) { request.loginHint = "ada@example.com" }
        if example.hint == .unreadable { request.loginHint = "Ada" }
        var situation = RequestSituation(request: request, client: client)
        situation.sessions = example.sessions.enumerated().map { index, kind in
            var session = BrowserSession(id: id(index), uid: id(index), age: kind == .mustChangeLate ? 400 : 100)
            session.isGuest = kind == .guest
            session.needsNewPassword = kind == .mustChange || kind == .mustChangeLate
            session.consented = kind == .consented ? ["openid", "email", "profile"] : ["openid"]
            session.lastUsedByClient = kind == .usedBefore ? now - 10 : nil
            session.isRequired = example.hint == .requiresFirst && index == 0
            session.isPreferred = example.hint == .prefersFirst && index == 0
            return session
        }
        if example.progress != .none {
            situation.progress.session = situation.sessions.first?.id
            situation.progress.hasActed = true
        }
        let first = situation.sessions.first?.id
        switch example.progress {
        case .none, .chosen: break
        case .proven: situation.progress.proven = first
        case .confirmed: situation.progress.confirmed = first
        case .consented: situation.progress.consented = first
        case .provenOther: situation.progress.proven = id(9)
        case .confirmedOther: situation.progress.confirmed = id(9)
        case .consentedOther: situation.progress.consented = id(9)
        case .wantsOther: situation.progress.wantsOther = true
        }
        return situation
    }

    private static func name(_ step: NextStep) -> String {
        switch step {
        case .ask(let question): question.rawValue
        case .refuse(let code): code.rawValue
        case .finish(let session): "finish \(session.id == id(0) ? 0 : 1)"
        }
    }
}

/// The rules of the decision, each as a condition on a case and its answers with and without a person.
private struct Rule: Sendable {
    typealias Case = NextStepTests.Case

    let applies: @Sendable (Case) -> Bool
    /// The page, or the error of a request that is refused in any case.
    let page: String
    /// The error with `prompt=none`.
    let silent: String

    init(_ page: String, silent: String? = nil, when applies: @escaping @Sendable (Case) -> Bool) {
        (self.page, self.silent, self.applies) = (page, silent ?? page, applies)
    }

    static func answer(to example: Case) -> String {
        guard let rule = all.first(where: { $0.applies(example) }) else {
            return "finish \(candidate(of: example) ?? 0)"
        }
        return example.prompt == ClientRequest.Prompt.none ? rule.silent : rule.page
    }

    /// The page for somebody who is not signed in as the client wants.
    private static func signIn(when applies: @escaping @Sendable (Case) -> Bool) -> [Rule] {
        [
            Rule("signup", silent: "login_required") { $0.prompt == .create && applies($0) },
            Rule("signin", silent: "login_required", when: applies),
        ]
    }

    /// The index of the session that the answer is about.
    private static func candidate(of example: Case) -> Int? {
        if example.sessions.isEmpty { return nil }
        if example.progress != .none || example.sessions.count == 1 { return 0 }
        if example.hint == .requiresFirst || example.hint == .prefersFirst { return 0 }
        guard example.prompt == ClientRequest.Prompt.none else { return nil }
        return example.sessions.firstIndex(of: .usedBefore)
    }

    private static func session(of example: Case) -> NextStepTests.SessionCase? {
        candidate(of: example).map { example.sessions[$0] }
    }

    private static let all =
        signIn { $0.sessions.isEmpty }
        + [Rule("accounts", silent: "account_selection_required") { candidate(of: $0) == nil }]
        + signIn { $0.progress == .wantsOther }
        + [Rule("access_denied") { $0.hint == .requiresOther && $0.progress != .none }]
        + signIn { $0.hint == .requiresOther }
        + signIn { $0.hint == .prefersOther && $0.progress == .none }
        + signIn { session(of: $0) == .guest && $0.client != .guests } + further

    private static let further = [
        Rule("accounts") { $0.prompt == .selectAccount && $0.progress == .none },
        Rule("signup") { $0.prompt == .create && $0.progress != .proven },
        Rule("reauthenticate", silent: "login_required") {
            ($0.prompt == .login || $0.maxAge == 0 || $0.maxAge == 50) && $0.progress != .proven
        },
        Rule("unmet_authentication_requirements") { example in
            guard let levels = example.levels else { return false }
            return !levels.contains(session(of: example) == .guest ? "0" : "1")
        },
        Rule("new-password", silent: "interaction_required") { session(of: $0) == .mustChange },
        Rule("reauthenticate", silent: "interaction_required") { session(of: $0) == .mustChangeLate },
        Rule("confirm", silent: "interaction_required") { $0.client == .native && $0.progress == .none },
        Rule("confirm", silent: "interaction_required") { $0.client == .foreign && $0.progress != .confirmed },
        Rule("consent", silent: "consent_required") {
            if $0.progress == .consented { return false }
            return $0.prompt == .consent || $0.client == .thirdParty && session(of: $0) != .consented
        },
    ]
}
