package import Accounts
package import ProviderKit

/// Everything that the use cases need from a database.
package typealias OpenIDStore = AuthorizationStore & ClientStore & CodeStore & ClientSessionStore & GrantStore
    & DeviceStore & LogoutStore & NativeSecretStore & QRCodeStore & RefreshStore & ClientRegistrationStore
    & SessionEndStore & SingleUseStore & SessionBearerStore & AuditTrail

/// The use cases of the OpenID endpoints, wired to one store.
///
/// This type is a class, because the closures of the routes refer to it, and a copy would take 108 KB.
package final class OpenIDUseCases: Sendable {
    package let directory: ClientDirectory
    package let registration: ClientRegistration
    package let authentication: ClientAuthentication
    package let authorization: Authorization
    package let steps: RequestSteps
    package let accountPages: AccountPages
    package let mailedLinks: MailedLinks
    package let guestSignIns: GuestSignIns
    package let native: NativeSignIn
    package let grants: TokenGrants
    package let devices: DeviceGrants
    package let inspection: TokenInspection
    package let introspections: IntrospectionCounts
    package let logout: Logout
    package let logoutTokens: LogoutTokenIssuing
    package let clientGrants: ClientGrants
    package let qrSignIn: QRSignIn
    package let qrBearers: QRBearers
    package let qrCodeWaits: QRCodeWaits
    package let handoffs = HandoffCounts()
    package let waiters: HandoffWaiters

    /// `registeredKeys` verifies with the keys of clients that have registered themselves.
    package init(
        store: any OpenIDStore, accounts: UseCases, jwts: any ApplicationJWTs, access: any AccessTokens,
        opaque: any OpaqueTokens, keys: any TokenVerifying, registeredKeys: any TokenVerifying,
        revocations: any Revocations, places: any PlaceDirectory, waiters: HandoffWaiters, time: any TimeSource
    ) {
        self.waiters = waiters
        directory = ClientDirectory(store: store)
        registration = ClientRegistration(
            store: store, statements: SoftwareStatements(keys: keys), keys: registeredKeys, opaque: opaque)
        authentication = ClientAuthentication(
            store: store, directory: directory, keys: keys, registeredKeys: registeredKeys,
            refusals: accounts.refusals, time: time)
        let issuing = TokenIssuing(jwts: jwts, opaque: opaque, time: time)
        authorization = Authorization(
            store: store, validation: RequestValidation(jwts: jwts, directory: directory), opaque: opaque)
        clientGrants = ClientGrants(store: store, directory: directory)
        let proofs = StepProofs(
            signIn: accounts.signIn, codes: accounts.codes, limits: accounts.limits, opaque: opaque)
        steps = RequestSteps(
            store: store, directory: directory,
            questions: QuestionSteps(store: store, clientGrants: clientGrants, opaque: opaque),
            proofs: proofs,
            passwords: PasswordSteps(
                profile: accounts.profile, change: accounts.passwordChange, reset: accounts.passwordReset,
                limits: accounts.limits),
            restoring: RestoreSteps(deletion: accounts.deletion, sessions: store, proofs: proofs),
            callbacks: ProviderCallbacks(
                store: store, redirects: accounts.redirects, identities: accounts.identityProofs, proofs: proofs),
            links: LinkSteps(
                proofs: proofs, identities: accounts.identityProofs, merging: accounts.merging, time: time),
            qrCodes: QRSteps(
                store: store, places: places, counts: handoffs, proofs: proofs,
                tokens: SessionTokens(opaque: opaque, access: access, time: time)),
            devices: DeviceSteps(
                store: store, places: places, counts: handoffs, limits: accounts.limits, opaque: opaque),
            opaque: opaque)
        qrSignIn = QRSignIn(
            store: store, directory: directory, places: places, counts: handoffs, opaque: opaque)
        qrBearers = QRBearers(
            bearers: accounts.authentication, directory: directory, store: store, jwts: jwts,
            revocations: revocations, time: time)
        qrCodeWaits = QRCodeWaits(store: store, waiters: waiters, opaque: opaque)
        accountPages = AccountPages(store: store, useCases: accounts, clientGrants: clientGrants, opaque: opaque)
        mailedLinks = MailedLinks(
            store: store, steps: steps, registration: accounts.registration, passwordReset: accounts.passwordReset,
            identityReview: accounts.identityReview, invitations: accounts.invitations, recovery: accounts.recovery,
            limits: accounts.limits, opaque: opaque)
        guestSignIns = GuestSignIns(authorization: authorization, steps: steps, opaque: opaque)
        devices = DeviceGrants(store: store, counts: handoffs, issuing: issuing)
        native = NativeSignIn(store: store, opaque: opaque)
        grants = TokenGrants(store: store, devices: devices, issuing: issuing, native: native)
        introspections = IntrospectionCounts(trail: store, time: time)
        inspection = TokenInspection(
            store: store, directory: directory, issuing: issuing, access: access, revocations: revocations,
            counts: introspections)
        logout = Logout(store: store, directory: directory, issuing: issuing)
        logoutTokens = LogoutTokenIssuing(directory: directory, issuing: issuing)
    }
}
