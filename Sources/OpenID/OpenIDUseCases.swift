package import Accounts
package import ProviderKit

/// Everything that the use cases need from a database.
package typealias OpenIDStore = AuthorizationStore & CodeStore & ClientSessionStore & GrantStore & LogoutStore
    & RefreshStore & SessionEndStore & SingleUseStore

/// The use cases of the OpenID endpoints, wired to one store.
package struct OpenIDUseCases: Sendable {
    package let authentication: ClientAuthentication
    package let authorization: Authorization
    package let steps: RequestSteps
    package let accountPages: AccountPages
    package let mailedLinks: MailedLinks
    package let guestVisits: GuestVisits
    package let grants: TokenGrants
    package let inspection: TokenInspection
    package let logout: Logout
    package let logoutTokens: LogoutTokenIssuing
    package let clientGrants: ClientGrants

    package init(
        store: any OpenIDStore, accounts: UseCases, jwts: any ApplicationJWTs, access: any AccessTokens,
        opaque: any OpaqueTokens, keys: any TokenVerifying, revocations: any Revocations, time: any TimeSource
    ) {
        authentication = ClientAuthentication(
            store: store, keys: keys, refusals: accounts.refusals, time: time)
        let issuing = TokenIssuing(jwts: jwts, opaque: opaque, time: time)
        authorization = Authorization(
            store: store, validation: RequestValidation(jwts: jwts), opaque: opaque)
        clientGrants = ClientGrants(store: store)
        let proofs = StepProofs(
            signIn: accounts.signIn, codes: accounts.codes, limits: accounts.limits, opaque: opaque)
        steps = RequestSteps(
            store: store, questions: QuestionSteps(store: store, clientGrants: clientGrants, opaque: opaque),
            proofs: proofs,
            passwords: PasswordSteps(
                profile: accounts.profile, change: accounts.passwordChange, reset: accounts.passwordReset,
                limits: accounts.limits),
            restoring: RestoreSteps(deletion: accounts.deletion, proofs: proofs, limits: accounts.limits),
            arrivals: ProviderArrivals(
                store: store, redirects: accounts.redirects, identities: accounts.identityProofs, proofs: proofs),
            links: LinkSteps(
                proofs: proofs, identities: accounts.identityProofs, merging: accounts.merging, time: time),
            opaque: opaque)
        accountPages = AccountPages(store: store, useCases: accounts, clientGrants: clientGrants, opaque: opaque)
        mailedLinks = MailedLinks(
            store: store, steps: steps, registration: accounts.registration, passwordReset: accounts.passwordReset,
            identityReview: accounts.identityReview, limits: accounts.limits, opaque: opaque)
        guestVisits = GuestVisits(authorization: authorization, steps: steps, opaque: opaque)
        grants = TokenGrants(store: store, issuing: issuing)
        inspection = TokenInspection(store: store, issuing: issuing, access: access, revocations: revocations)
        logout = Logout(store: store, issuing: issuing)
        logoutTokens = LogoutTokenIssuing(issuing: issuing)
    }
}
