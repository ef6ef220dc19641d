package import Accounts

/// Everything that the use cases need from a database.
package typealias OpenIDStore = AuthorizationStore & CodeStore & ClientSessionStore & RefreshStore & SessionEndStore

/// The use cases of the OpenID endpoints, wired to one store.
package struct OpenIDUseCases: Sendable {
    package let authorization: Authorization
    package let steps: RequestSteps
    package let grants: TokenGrants
    package let inspection: TokenInspection

    package init(
        store: any OpenIDStore, accounts: UseCases, jwts: any ApplicationJWTs, opaque: any OpaqueTokens,
        revocations: any Revocations,
        time: any TimeSource
    ) {
        let issuing = TokenIssuing(jwts: jwts, opaque: opaque, time: time)
        authorization = Authorization(
            store: store, validation: RequestValidation(jwts: jwts), opaque: opaque, time: time)
        steps = RequestSteps(
            store: store,
            proofs: StepProofs(
                signIn: accounts.signIn, codes: accounts.codes, limits: accounts.limits, opaque: opaque),
            opaque: opaque, time: time)
        grants = TokenGrants(store: store, issuing: issuing)
        inspection = TokenInspection(store: store, issuing: issuing, revocations: revocations)
    }
}
