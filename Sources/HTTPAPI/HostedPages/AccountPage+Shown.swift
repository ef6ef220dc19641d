internal import Accounts
internal import Foundation
internal import OpenID
internal import Pages
internal import ProviderKit

extension AccountPage {
    /// What the page of a section shows.
    init(_ shown: ShownAccount, in language: PageLanguage, at issuer: Issuer, origin: RequestOrigin) {
        let url = issuer.application.issuer
        self.init(
            Section(shown, in: language, at: issuer, origin: origin),
            of: StepPage.Account(shown.account, in: issuer.application), isGuest: shown.account.session.isGuest,
            sections: issuer.sections.filter { $0 != .overview }.map(\.rawValue),
            base: url + AccountSection.overview.path, signOut: "\(url)/oauth/logout")
        typed = shown.typed.map { TypedText($0.text, entry: $0.entry?.text) }
    }
}

extension AccountPage.Section {
    fileprivate init(_ shown: ShownAccount, in language: PageLanguage, at issuer: Issuer, origin: RequestOrigin) {
        let (account, providers) = (shown.account, issuer.application.providers)
        switch shown.content {
        case .overview: self = .overview
        case .name: self = .name
        case .data: self = .data
        case .language: self = .language(account.locale.map { PageLanguage(preferences: [$0]).rawValue })
        case .password(let isPossible):
            self = .password(account.passwordAddress != nil ? .change : isPossible ? .new : .impossible)
        case .identities(let identities, let sent):
            let code = shown.codeToken.flatMap { token in
                sent.map {
                    AccountPage.Code(
                        identity: $0.identity.text, challenge: $0.challenge, address: $0.address, formToken: token)
                }
            }
            let addable = providers.linkable(in: origin).map { AccountPage.Provider(id: $0.name, name: $0.displayName) }
            self = .identities(
                identities.map { AccountPage.Identity($0, of: providers) }, addable: addable, code: code)
        case .sessions(let sessions):
            let isAsked = issuer.settings.browserSessions.remember == .ask
            self = .sessions(
                sessions.map { AccountPage.Session($0, of: account, in: language, at: issuer) },
                isKept: isAsked ? account.isRemembered : nil)
        case .apps(let grants): self = .apps(grants.map { AccountPage.App($0, in: language, at: issuer) })
        case .merges(let merges):
            self = .merges(
                merges.map { merge in
                    let isOpen = merge.undoneAt == nil && merge.undoUntil > Date()
                    return AccountPage.Merge(
                        id: merge.id.text, mergedAt: merge.mergedAt, undoUntil: isOpen ? merge.undoUntil : nil)
                })
        }
    }
}

extension AccountPage.Identity {
    fileprivate init(_ listed: ListedIdentity, of providers: ProviderRegistry) {
        let identity = listed.identity
        let provider = (try? providers.named(identity.provider))?.provider as? any ChallengeProvider
        let change: Change? = provider.map { type(of: $0).targetField == "phone" ? .phone : .email }
        self.init(
            id: identity.id.text, provider: providers.displayName(of: identity.provider),
            address: identity.email?.value ?? identity.phone?.value ?? identity.displayName,
            linkedAt: identity.linkedAt, lastUsedAt: identity.lastUsedAt, isCurrent: listed.isCurrent,
            isBlocked: identity.isQuarantined, change: change)
    }
}

extension AccountPage.Session {
    fileprivate init(_ session: ListedSession, of account: BrowserAccount, in language: PageLanguage, at issuer: Issuer)
    {
        self.init(
            id: session.id.text,
            device: session.deviceType.map { session.device ?? DeviceWords.name(ofType: $0, in: language) }
                ?? UserAgent(session.device).words ?? session.device,
            app: session.client.map { issuer.configuredClient($0)?.name(in: language) ?? session.clientName ?? $0 },
            address: session.address,
            createdAt: session.createdAt, lastSeenAt: session.lastSeenAt, isCurrent: session.id == account.session.id,
            isOfCurrent: session.browser == account.session.id)
    }
}

extension AccountPage.App {
    fileprivate init(_ grant: ClientGrant, in language: PageLanguage, at issuer: Issuer) {
        self.init(
            id: grant.clientID, name: grant.client?.name(in: language) ?? grant.clientID,
            scopes: issuer.scopes(
                Set(grant.scopes ?? []), ofResources: grant.resources ?? [], in: language, value: { _ in nil }),
            grantedAt: grant.grantedAt, lastUsedAt: grant.lastUsedAt, lastAddress: grant.lastAddress)
        (isAllowed, device) = (grant.isConsent, grant.client?.instance?.device(in: language))
    }
}

extension ClientInstance {
    /// The device's own name, or what it is.
    func device(in language: PageLanguage) -> String {
        deviceName ?? DeviceWords.name(ofType: deviceType, in: language)
    }
}
