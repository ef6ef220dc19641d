internal import Accounts
internal import Foundation
internal import OpenID
internal import Pages
internal import ProviderKit

extension StepPage.Step {
    /// What the page of a step shows, whose URL leads to the present step; with `repeating`, what the person has typed.
    ///
    /// `providers` are the providers whose pages, or whose gateways, the browser can use.
    init(
        _ step: ShownStep, at url: String, providers: [StepPage.Provider], in language: PageLanguage, of issuer: Issuer,
        repeating: Bool
    ) {
        let application = issuer.application
        let account = step.account.map { StepPage.Account($0, in: application) }
        switch (step.name, account) {
        case (.code, _): self = .code(to: step.progress.challenge?.identifier ?? "")
        case (.accounts, _): self = .accounts(step.accounts.map { StepPage.Account($0, in: application) })
        case (.reauthenticate, let account?):
            var ways = StepPage.SignIn(of: step, by: issuer)
            ways.providers = providers.filter { step.account?.providers.contains($0.name) == true }
            ways.identifier = step.account?.address
            ways.hasPassword = ways.hasPassword && step.account?.passwordAddress != nil
            let isMail = step.account?.address?.contains("@")
            (ways.sendsMail, ways.sendsTexts) = (ways.sendsMail && isMail == true, ways.sendsTexts && isMail == false)
            ways.isRemembered = step.remembers ?? step.account?.isRemembered ?? false
            self = .reauthenticate(ways, account)
        case (.forgot, _): self = .forgot(repeating ? step.typed : step.progress.identifier ?? step.request.loginHint)
        case (.done, _): self = .done(.resetSent, next: url)
        case (.welcome, let account?):
            self = .welcome(
                name: repeating ? step.typed : account.name,
                asksForPassword: step.account?.canChoosePassword(at: issuer) ?? false)
        case (.newOrLink, _):
            let provider = step.progress.pending?.newIdentity?.provider ?? ""
            self = .newOrLink(
                provider: issuer.application.providers.displayName(of: provider), mayOpenAccount: step.opensAccounts)
        case (.newPassword, let account?): self = .newPassword(account)
        case (.restore, _): self = .restore(until: step.progress.pending?.restorableUntil ?? .now)
        case (.qr, _): self = .qr(StepPage.QR(step, asking: issuer.settings.browserSessions.remember == .ask))
        case (.link, _): self = .link(StepPage.Link(step, at: url, of: issuer))
        case (.conflict, let account?), (.merge, let account?):
            if let merge = step.merge {
                self = .merge(StepPage.Merge(merge, in: issuer.application))
            } else {
                self = .conflict(StepPage.Conflict(step, at: issuer), account)
            }
        case (.confirm, let account?):
            self = .confirm(account, former: step.formerOwner.map { StepPage.FormerOwner(name: $0.recognisable) })
        case (.device, _): self = .device(userCode: repeating ? step.typed : step.request.userCode)
        case (.deviceConfirm, let account?):
            self = .deviceConfirm(StepPage.Device(step, of: account, in: language, at: issuer))
        case (.consent, let account?):
            var consent = StepPage.Consent(
                account: account, destination: step.request.returnAddress.destination,
                isForeign: !step.client.isFirstParty, scopes: step.scopes(in: language, at: issuer))
            consent.isUnverified = step.client.origin == .registered
            (consent.logo, consent.policy, consent.terms) = (
                step.client.logo, step.client.policyURI, step.client.tosURI
            )
            self = .consent(consent)
        default:
            var ways = StepPage.SignIn(of: step, by: issuer)
            ways.identifier = repeating ? step.typed : step.progress.identifier ?? step.request.loginHint
            ways.canGoBack = step.progress.wantsOther
            ways.isRemembered = step.remembers ?? false
            ways.providers = providers
            ways.joining = step.progress.joining.map { issuer.application.providers.displayName(of: $0.provider) }
            switch step.name {
            case .signUp:
                (ways.hasPassword, ways.offersReset, ways.offersQRCode) = (false, false, false)
                self = .signUp(ways)
            case .secondProof:
                ways.restrict(to: step.progress.pending?.otherProof?.ways ?? WaysToSignIn(), at: issuer)
                self = .secondProof(ways)
            default: self = .signIn(ways)
            }
        }
    }
}

extension StepPage.SignIn {
    /// The ways that the application allows.
    fileprivate init(of step: ShownStep, by issuer: Issuer) {
        self.init()
        let providers = issuer.application.providers
        hasPassword = issuer.application.providers.admitsPasswords
        (offersSignUp, offersReset, offersQRCode) = (step.offersSignUp, hasPassword, step.offersQRCode)
        sendsMail = providers.challengeProvider(for: .email) != nil
        sendsTexts = providers.challengeProvider(for: .phone) != nil
        asksToRemember = issuer.settings.browserSessions.remember == .ask
    }

    /// Leaves out the ways that an account does not have.
    fileprivate mutating func restrict(to ways: WaysToSignIn, at issuer: Issuer) {
        let providers = issuer.application.providers
        func has(_ kind: Address.Kind) -> Bool {
            providers.challengeProvider(for: kind).map { ways.providers.contains($0.name) } ?? false
        }
        self.providers.removeAll { !ways.providers.contains($0.name) }
        hasPassword = hasPassword && ways.hasPassword
        (sendsMail, sendsTexts, offersReset) = (has(.email), has(.phone), hasPassword)
        asksToRemember = asksToRemember && (hasPassword || sendsMail || sendsTexts)
    }
}

extension StepPage.Account {
    /// An account without a verified address is recognised by the provider of its session.
    init(_ account: BrowserAccount, in application: Application) {
        let provider = account.session.isGuest ? nil : application.providers.displayName(of: account.provider)
        self.init(
            id: account.session.id.text, name: account.name, address: account.address ?? provider,
            isSignedIn: account.isLive)
    }
}

extension StepPage.Device {
    fileprivate init(
        _ step: ShownStep, of account: StepPage.Account, in language: PageLanguage, at issuer: Issuer
    ) {
        let device = step.progress.device
        let client = device.flatMap { issuer.configuredClient($0.clientID) }
        self.init(
            account: account, userCode: device?.userCode.text ?? "", client: client?.name(in: language) ?? "",
            isForeign: client?.isFirstParty == false,
            scopes: step.scopes(
                Set(device?.scopes ?? []), ofResources: device?.resources ?? [], in: language, at: issuer),
            address: step.device?.address ?? "")
        place = step.device?.place(language.rawValue)
        (policy, terms) = (client?.policyURI, client?.tosURI)
    }
}

extension ShownStep {
    /// What the client asks for, with the values that it would see.
    fileprivate func scopes(in language: PageLanguage, at issuer: Issuer) -> [StepPage.Scope] {
        let resources = request.resources.isEmpty ? client.resources : request.resources
        return scopes(request.consentScopes, ofResources: resources, in: language, at: issuer)
    }

    fileprivate func scopes(
        _ scopes: Set<String>, ofResources resources: [String], in language: PageLanguage, at issuer: Issuer
    ) -> [StepPage.Scope] {
        issuer.scopes(scopes, ofResources: resources, in: language) { scope in
            switch scope {
            case .profile: account?.name
            case .email: account?.emails.first
            case .phone: account?.phones.first
            case .openid, .account, .offlineAccess, .native, .qr: nil
            }
        }
    }
}

extension Issuer {
    /// The scopes in words, with the values that a client would see.
    func scopes(
        _ scopes: Set<String>, ofResources resources: [String], in language: PageLanguage,
        value: (StandardScope) -> String?
    ) -> [StepPage.Scope] {
        let standard = StandardScope.allCases.filter { scopes.contains($0.rawValue) }
        let others = scopes.subtracting(standard.map(\.rawValue)).sorted()
        return standard.map { .standard($0.rawValue, value: value($0)) }
            + others.flatMap { scope in
                let texts = resources.compactMap { settings.resources[$0]?.scopes[scope] }
                return (texts.isEmpty ? [[:]] : texts).map { texts in
                    StepPage.Scope.resource(texts[language.rawValue] ?? texts[""] ?? texts["en"] ?? scope)
                }
            }
    }
}

extension ReturnAddress {
    fileprivate var destination: StepPage.Consent.Destination {
        let url = URLComponents(string: redirectURI)
        let scheme = url?.scheme ?? ""
        return ["https", "http"].contains(scheme) ? .host(url?.host ?? "") : .app(scheme: scheme)
    }
}
