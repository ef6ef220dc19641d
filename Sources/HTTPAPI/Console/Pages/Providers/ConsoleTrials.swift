internal import Accounts
internal import Administration
internal import Console
internal import HTTPTypes
internal import Hummingbird
internal import OpenID
internal import ProviderKit

extension ConsolePlaces {
    static let trialPath = "/providers/{name}/try"

    /// The page from which an administrator tries a provider, and which shows once what the trial has led to.
    ///
    /// The admin API has no such operation, because a service key has no browser.
    static let trials = [
        ConsolePlace(trialPath) { request in
            try await request.requireTrials()
            guard let code = try request.query["code"] else { return try request.trialPage() }
            let administration = request.console.administration
            let ended = try await administration.capacity.run {
                try await administration.trials.finish(
                    code, of: request["name"], in: request.session, by: request.administrator)
            }
            guard let ended else { return try request.trialPage(["isLost": true]) }
            return try request.trialPage(["result": request.shown(ended.outcome, ended.verdict)])
        }
    ]
}

extension ConsoleOperations {
    /// Begins a trial, and shows the link to the provider's pages.
    ///
    /// It is a link, because browsers apply `form-action` to the redirects of a form too.
    var beginTrial: Operation<Void, Response> {
        operation("beginTrial") { request in
            try await request.requireTrials()
            let name = request["name"]
            let beginning = try await console.administration.trials.begin(
                name, inBrowser: request.settings.sharesOrigin(with: request.application.callbackURL(of: name)),
                in: request.session, by: request.administrator)
            switch beginning {
            case .ended(let outcome):
                return try await request.response(request.trialPage(["result": request.shown(outcome, nil)]))
            case .leaves(let redirect):
                var response = try await request.response(request.trialPage(["link": ["whole": .string(redirect.url)]]))
                if let cookie = redirect.cookie {
                    let value = cookie.header(age: FlowCookie.age, in: request.context)
                    response.headers.append(HTTPField(name: .setCookie, value: value))
                }
                return response
            }
        }
    }
}

extension ConsoleSettings {
    /// The page of the console that shows what a trial has led to.
    func page(ofTrial provider: String, in application: String, code: String) -> String {
        "\(url)/\(application)/providers/\(provider)/try".addingQuery(["code": code])
    }

    /// Whether cookies that the console sets are sent to a URL too.
    fileprivate func sharesOrigin(with other: String) -> Bool {
        Issuer.origin(of: url).hasSameBytes(as: Issuer.origin(of: other))
    }
}

// MARK: - What the page shows

extension ConsoleRequest {
    /// - Throws: `AdministrationError.forbidden`, after it has been audited.
    fileprivate func requireTrials() async throws {
        guard !may(.writeProviders) else { return }
        throw await refusal(of: "console.try", lacking: .writeProviders)
    }

    /// The page of the provider that the path names, with the link to its pages or a result.
    fileprivate func trialPage(_ shown: [String: JSONValue] = [:]) throws -> ConsolePage {
        guard let provider = application.providers[self["name"]] else { throw AdministrationError.notFound("provider") }
        let path = path(of: ConsolePlaces.trialPath)
        let values: [String: JSONValue] = [
            "provider": .string(provider.displayName), "action": .string(path), "csrf": .string(formToken(for: path)),
            "canTry": .bool(ProviderTrials.canTry(provider)), "isOff": .bool(provider.mode == .off),
            "isOffInFile": .bool(provider.declaration.mode == .off),
        ]
        return ConsolePage("try", title: "Try \(provider.displayName)", values.merging(shown) { $1 })
    }

    /// The result for the template; accounts are named only to those who may look at accounts.
    fileprivate func shown(_ outcome: TrialOutcome, _ verdict: Explanation?) -> JSONValue {
        [
            "failure": outcome.failure.map {
                ["code": .string($0.code), "sentence": $0.sentence.map { .string($0) } ?? false]
            } ?? false,
            "findings": .array(
                outcome.findings.map {
                    [
                        "id": .string($0.rawValue), "sentence": .string($0.sentence),
                        "remedy": .string($0.remedy),
                    ]
                }),
            "hasFindings": .bool(!outcome.findings.isEmpty), "evidence": outcome.evidence?.shown ?? false,
            "tokens": ConsoleTemplates.text("try.tokens.\(outcome.tokens.rawValue)").map { .string($0) } ?? false,
            "away": outcome.away.shown, "completion": outcome.completion.shown, "revocation": outcome.revocation.shown,
            "verdict": verdict.map { explanation in
                [
                    "words": may(.readAccounts) ? .string(explanation.verdict.outcome.words) : false,
                    "rule": .string(explanation.verdict.rule.rawValue),
                    "reason": .string(explanation.verdict.rule.reason),
                    "remedies": .array(explanation.verdict.refusal.remedies.map { .string($0) }),
                ]
            } ?? false,
        ]
    }
}

extension VerifiedIdentity {
    /// The most claims that are shown, so that the page stays small.
    private static let mostClaims = 64

    fileprivate var shown: JSONValue {
        [
            "uid": .plain(providerUid), "name": displayName.map { .plain($0) } ?? false,
            "methods": .array(methods.map { .string($0) }), "hasAddresses": .bool(!addresses.isEmpty),
            "addresses": .array(
                addresses.map { claim in
                    [
                        "kind": .string(claim.address.kind.rawValue), "address": .string(claim.address.value),
                        "isVerified": .bool(claim.isVerified), "isAuthoritative": .bool(claim.isAuthoritative),
                    ]
                }),
            "hasClaims": .bool(!profile.isEmpty), "isCut": .bool(profile.count > Self.mostClaims),
            "claims": .array(
                profile.sorted { $0.key < $1.key }.prefix(Self.mostClaims).map { name, value in
                    ["claim": .plain(name), "value": .plain(value.string ?? value.text)]
                }),
        ]
    }
}

extension Duration? {
    /// The time in milliseconds.
    fileprivate var shown: JSONValue {
        map { ["ms": .integer($0.components.seconds * 1000 + $0.components.attoseconds / 1_000_000_000_000_000)] }
            ?? false
    }
}

extension JSONValue {
    /// A text that is shown as it is, even if it looks like a time; it is cut here.
    fileprivate static func plain(_ text: String) -> JSONValue {
        ["whole": .string(text.beginning)]
    }
}
