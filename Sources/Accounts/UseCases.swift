/// The use cases of the HTTP interface, wired to one store.
///
/// This type is a class, because the closures of the routes refer to it, and a copy would take 20 KB.
package final class UseCases: Sendable {
    package let authentication: BearerAuthentication
    package let limits: any RateLimiting
    package let hashing: any PasswordHashing
    package let refusals: RefusalAudit
    package let statistics: Statistics
    package let findings: FindingLog
    package let signIn: ProofSignIn
    package let redirects: RedirectFlows
    package let notifications: ProviderNotifications
    package let codes: OneTimeCodes
    package let identityProofs: IdentityProofs
    package let identities: Identities
    package let addressChange: AddressChange
    package let identityReview: IdentityReview
    package let merging: AccountMerging
    package let registration: Registration
    package let passwordReset: PasswordReset
    package let passwordChange: PasswordChange
    package let invitations: Invitations
    package let recovery: AccountRecovery
    package let pin: PinCode
    package let refresh: SessionRefresh
    package let sessions: Sessions
    package let backEndTokens: BackEndTokens
    package let profile: Profile
    package let deletion: AccountDeletion
    package let export: AccountExport
    package let time: any TimeSource

    package init(
        store: any AccountsStore, events: any AuditChainStore, access: any AccessTokens, jwts: any ApplicationJWTs,
        opaque: any OpaqueTokens, hasher: any PasswordHashing, passwords: any PasswordPolicy,
        revocations: any Revocations, limits: any RateLimiting, quarantine: Duration, time: any TimeSource,
        statistics: Statistics = Statistics(), findings: FindingLog = FindingLog()
    ) {
        let tokens = SessionTokens(opaque: opaque, access: access, time: time)
        authentication = BearerAuthentication(
            access: access, opaque: opaque, revocations: revocations, store: store, time: time)
        self.limits = limits
        hashing = hasher
        refusals = RefusalAudit(trail: store, opaque: opaque, statistics: statistics)
        (self.statistics, self.findings) = (statistics, findings)
        let signIn = SignIn(store: store, tokens: tokens)
        redirects = RedirectFlows(store: store, opaque: opaque, findings: findings, time: time)
        let redemption = CodeRedemption(store: store, signIn: signIn, tokens: tokens)
        notifications = ProviderNotifications(store: store)
        codes = OneTimeCodes(store: store, signIn: signIn, tokens: tokens, limits: limits)
        let linking = IdentityLinking(
            store: store, signIn: signIn, tokens: tokens, codes: codes, redemption: redemption)
        let requests = RegistrationRequest(
            store: store, hasher: hasher, passwords: passwords, tokens: tokens, limits: limits)
        let passwordLinking = PasswordLinking(store: store, requests: requests, linking: linking, tokens: tokens)
        identities = Identities(store: store)
        addressChange = AddressChange(store: store, codes: codes, tokens: tokens)
        identityReview = IdentityReview(store: store, opaque: opaque)
        merging = AccountMerging(store: store, tokens: tokens)
        registration = Registration(
            store: store, hasher: hasher, requests: requests, tokens: tokens, codes: codes, linking: passwordLinking)
        let passwordSignIn = PasswordSignIn(store: store, hasher: hasher, tokens: tokens)
        self.signIn = ProofSignIn(
            signIn: signIn, passwords: passwordSignIn, codes: codes, redemption: redemption,
            tickets: SignInTickets(store: store, opaque: opaque))
        identityProofs = IdentityProofs(
            linking: linking, passwordLinking: passwordLinking, passwordSignIn: passwordSignIn)
        let replacement = PasswordReplacement(signIn: signIn, tokens: tokens, quarantine: quarantine)
        passwordReset = PasswordReset(
            store: store, hasher: hasher, passwords: passwords, replacement: replacement, tokens: tokens,
            limits: limits)
        invitations = Invitations(
            store: store, hasher: hasher, passwords: passwords, linking: linking, tokens: tokens)
        recovery = AccountRecovery(
            store: store, hasher: hasher, passwords: passwords, linking: linking, replacement: replacement,
            tokens: tokens)
        passwordChange = PasswordChange(store: store, hasher: hasher, passwords: passwords, tokens: tokens)
        pin = PinCode(store: store, hasher: hasher, tokens: tokens)
        refresh = SessionRefresh(store: store, tokens: tokens)
        sessions = Sessions(store: store, opaque: opaque, access: access)
        backEndTokens = BackEndTokens(jwts: jwts, time: time)
        profile = Profile(store: store)
        deletion = AccountDeletion(store: store, tokens: tokens, replacement: replacement)
        export = AccountExport(store: store, events: events)
        self.time = time
    }
}
