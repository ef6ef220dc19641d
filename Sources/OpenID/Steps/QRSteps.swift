internal import Accounts
internal import Foundation
internal import ProviderKit

/// The page that shows a code, which an app that is signed in on a phone confirms.
struct QRSteps: StepActions {
    let store: any QRCodeStore
    let places: any PlaceDirectory
    let counts: HandoffCounts
    let proofs: StepProofs
    let tokens: SessionTokens

    func perform(_ form: StepForm, on state: RequestState, _ context: RequestSteps.Context) async throws -> StepOutcome?
    {
        let request = state.loaded.stored.hash
        switch (form.step, form.action) {
        case (.signIn, .showQRCode) where state.offersQRCode, (.qr, .again):
            try await proofs.limits.spend(.qr, of: RateSubject(context.client), in: context.issuer.application)
            let code = QRCodeText.make()
            let new = NewQRCode(
                hash: code.hash, request: request, clientID: state.client.id, issuer: state.issuer.url,
                requester: HandoffRequester(context.client))
            try await store.store(
                new, for: context.issuer.settings.qr.lifetime, application: context.issuer.application.id)
            counts.add(.qr, .shown)
            var state = state
            state.progress.qrCode = code.text
            return .progressed(state)
        case (.qr, .back):
            try await store.endQRCodes(of: request, application: context.issuer.application.id)
            var state = state
            state.progress.qrCode = nil
            return .progressed(state)
        case (.qr, .finish(let remember)):
            guard let code = state.progress.qrCode.flatMap(QRCodeText.init) else { return nil }
            let cookie = proofs.cookie(after: form.action, formToken: form.token, context)
            let client = proofs.client(under: cookie, remember: remember, context)
            return .borrowed(
                try await finish(code, of: request, from: client, in: context.issuer.application), under: cookie)
        default: return nil
        }
    }

    /// Opens a session of the account that has confirmed the code, and uses the code up.
    ///
    /// The account is locked before the session that has confirmed is read, so that whatever ends all sessions of the
    /// account ends the new one, too.
    /// - Throws: `AccountsError.qrExpired` if the code is not confirmed any more.
    private func finish(
        _ code: QRCodeText, of request: [UInt8], from client: Client, in application: Application
    ) async throws -> SignedIn {
        let opened = try await store.retryingTransaction { store in
            guard let taken = try await store.takeQRCode(code.hash, of: request, application: application.id),
                try await store.lockAccount(taken.uid, application: application.id) == .live,
                let opener = try await store.qrCodeOpener(
                    session: taken.session, of: taken.uid, application: application.id)
            else { throw AccountsError.qrExpired }
            let evidence = VerifiedIdentity(providerUid: opener.providerUid, methods: ["qr"])
            var session = tokens.newSession(by: evidence, of: opener.provider, from: client, in: application)
            (session.provesIdentity, session.isBorrowed) = (false, true)
            let opened = try await store.openSession(session, identity: opener.identity, password: nil)
            try await store.announceHandoff(.v8(of: request), application: application.id)
            try await OwnerNotices(store: store, application: application.id).send(
                .qrSignIn, toOwnerOf: taken.uid, about: HandoffRequester(client).noticed(by: places))
            return opened
        }
        counts.add(.qr, .used)
        return try await tokens.signedIn(opened, secret: .cookie, in: application)
    }
}

extension RequestState {
    /// Whether a person may sign in by a code that a phone confirms.
    ///
    /// That is no proof, so it is not offered where one is asked for, as for a new account, or where an identity is linked.
    var offersQRCode: Bool {
        issuer.settings.qr.isEnabled && request.linksProvider == nil && progress.joining == nil && !changesAccounts
            && request.maxAge == nil && request.prompts.isDisjoint(with: [.login, .create])
    }
}
