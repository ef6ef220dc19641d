internal import Accounts
internal import Foundation
internal import ProviderKit

/// The pages where a person types the code that a device shows, and allows or refuses the device.
///
/// An attempt is counted in the request before its result is shown, so that parallel calls get no more attempts than
/// calls one after the other. What the device asks for is shown only to people who are signed in.
struct DeviceSteps: StepActions {
    typealias Store = AuthorizationStore & DeviceStore & GrantStore

    /// The number of wrong codes that ends a request.
    private static let mostWrongCodes = 5

    let store: any Store
    let places: any PlaceDirectory
    let counts: HandoffCounts
    let limits: any RateLimiting
    let opaque: any OpaqueTokens

    func perform(_ form: StepForm, on state: RequestState, _ context: RequestSteps.Context) async throws -> StepOutcome?
    {
        switch (form.step, form.action) {
        case (.device, .proceed(let typed)): try await find(typed, state, context)
        case (.deviceConfirm, .allow): try await answer(state, context, isAllowed: true)
        case (.deviceConfirm, .deny): try await answer(state, context, isAllowed: false)
        default: nil
        }
    }

    // MARK: - The code

    /// - Throws: `AccountsError.invalidCredentials` for every code that no device waits with.
    private func find(
        _ typed: String?, _ state: RequestState, _ context: RequestSteps.Context
    ) async throws -> StepOutcome {
        guard let typed, !typed.isEmpty else { throw AccountsError.missingParameter("user_code") }
        let application = context.issuer.application
        try await limits.spend(.userCode, of: RateSubject(context.client), in: application)
        var state = state
        state.progress.device = try await device(showing: typed, at: context.issuer)
        if state.deviceClient != nil { return .progressed(state) }
        state.progress.device = nil
        let wrong = (state.progress.wrongUserCodes ?? 0) + 1
        state.progress.wrongUserCodes = wrong
        var stored = state.loaded.stored
        stored.progress = state.progress
        guard wrong < Self.mostWrongCodes else {
            _ = try await store.end(stored, application: application.id)
            return .givenUp
        }
        // If another call was quicker, the person gets the page again without an answer to this code.
        guard try await store.update(stored, application: application.id) else { return .progressed(state) }
        throw AccountsError.invalidCredentials
    }

    private func device(showing typed: String, at issuer: Issuer) async throws -> WaitingDevice? {
        guard let code = UserCode(typed: typed) else { return nil }
        return try await store.waitingDevice(
            showing: code, hash: code.hash(at: issuer, by: opaque), application: issuer.application.id)
    }

    // MARK: - The answer

    /// Refuses the device and ends the request; `nil` if the device does not wait any more.
    func refuse(_ state: RequestState, _ context: RequestSteps.Context) async throws -> StepOutcome? {
        do {
            return try await answer(state, context, isAllowed: false)
        } catch AccountsError.invalidCredentials {
            return nil
        }
    }

    /// Answers the device and ends the request; both, or neither.
    ///
    /// If another call has ended the request, nothing changes.
    /// - Throws: `AccountsError.invalidCredentials` if the device does not wait any more.
    private func answer(
        _ state: RequestState, _ context: RequestSteps.Context, isAllowed: Bool
    ) async throws -> StepOutcome {
        guard let device = state.progress.device, let client = state.deviceClient,
            let account = state.account(at: .deviceConfirm)
        else { return .progressed(state) }
        let ending = RequestEnding(
            form: context.form, session: isAllowed ? account.session.id : nil, error: .denied)
        var finishing = state.loaded.stored
        finishing.progress = state.progress
        finishing.progress.ending = ending
        let application = context.issuer.application.id
        let isEnded = try await store.retryingTransaction { [finishing] store in
            guard try await store.end(finishing, application: application) else { return false }
            let isStored = try await store.answer(
                device.hash, isAllowed: isAllowed, by: account.session.id, application: application)
            // The error undoes the end of the request, whose page then asks for another code.
            guard isStored else { throw AccountsError.invalidCredentials }
            guard isAllowed else { return true }
            let uid = account.session.uid
            guard try await store.lockAccount(uid, application: application) == .live else {
                throw AccountsError.invalidCredentials
            }
            if !client.isFirstParty {
                _ = try await store.grantConsent(
                    scopes: device.scopes.sorted(), resources: device.resources, to: device.clientID, by: uid,
                    application: application)
            }
            try await OwnerNotices(store: store, application: application).send(
                .deviceConnected, toOwnerOf: uid, provider: client.name,
                about: device.requester.noticed(by: places))
            return true
        }
        guard isEnded else { return .ended(nil) }
        counts.add(.device, isAllowed ? .confirmed : .refused)
        return .ended(ending)
    }
}

extension RequestState {
    /// The client on the device whose code the person has typed; `nil` if it may not be connected any more.
    var deviceClient: OAuthClient? {
        guard let id = progress.device?.clientID, let client = try? issuer.settings.client(id),
            client.grants.contains(.deviceCode)
        else { return nil }
        return client
    }
}
