package import Accounts

/// Everything that the routes can ask of the domain.
package struct UseCases: Sendable {
    package let authentication: BearerAuthentication
    package let limits: any RateLimiting
    package let signIn: SignIn
    package let redirects: RedirectFlows
    package let redemption: CodeRedemption
    package let notifications: ProviderNotifications
    package let codes: OneTimeCodes
    package let registration: Registration
    package let passwordSignIn: PasswordSignIn
    package let passwordReset: PasswordReset
    package let passwordChange: PasswordChange
    package let refresh: SessionRefresh
    package let sessions: Sessions
    package let profile: Profile
    package let deletion: AccountDeletion

    package init(
        store: any TransactionalStore, access: any AccessTokens, opaque: any OpaqueTokens,
        hasher: any PasswordHashing, passwords: any PasswordPolicy, revocations: any Revocations,
        limits: any RateLimiting, time: any TimeSource
    ) {
        let tokens = SessionTokens(opaque: opaque, access: access, time: time)
        authentication = BearerAuthentication(access: access, revocations: revocations, store: store, time: time)
        self.limits = limits
        signIn = SignIn(store: store, tokens: tokens)
        redirects = RedirectFlows(store: store, opaque: opaque)
        redemption = CodeRedemption(store: store, signIn: signIn, tokens: tokens)
        notifications = ProviderNotifications(store: store)
        codes = OneTimeCodes(store: store, signIn: signIn, tokens: tokens, limits: limits)
        registration = Registration(
            store: store, hasher: hasher, passwords: passwords, signIn: signIn, tokens: tokens, codes: codes)
        passwordSignIn = PasswordSignIn(store: store, hasher: hasher, tokens: tokens)
        passwordReset = PasswordReset(
            store: store, hasher: hasher, passwords: passwords, signIn: signIn, tokens: tokens)
        passwordChange = PasswordChange(store: store, hasher: hasher, passwords: passwords, tokens: tokens)
        refresh = SessionRefresh(store: store, tokens: tokens)
        sessions = Sessions(store: store, opaque: opaque)
        profile = Profile(store: store)
        deletion = AccountDeletion(store: store, signIn: signIn, tokens: tokens)
    }
}
