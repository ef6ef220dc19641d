internal import Accounts
internal import Foundation
internal import ProviderKit

/// One form of the account pages: carries out its action by the use case of the REST interface.
struct AccountForm: Sendable {
    enum Outcome {
        case done(SessionCookie?)
        /// A code was sent, which the page asks for.
        case sent(SentAddressCode)
        case answer(AccountResponse)
        case otherAccount
        /// The person goes on at an authorization request.
        case begins(ClientRequest)
    }

    let account: BrowserAccount
    /// The other accounts of the browser that are signed in.
    let others: [BrowserAccount]
    let context: AccountPages.Context
    let useCases: UseCases
    let clientGrants: ClientGrants
    let store: any BrowserAccountStore

    private var issuer: Issuer { context.issuer }
    private var principal: Principal { account.principal(in: issuer.application) }

    /// - Throws: `AccountsError.tokenTooOld` if the person must prove the account again first.
    func carryOut(_ action: AccountAction) async throws -> Outcome {
        switch (context.section, action) {
        case (.overview, .other): return .otherAccount
        case (.name, .rename(let name)):
            try await spend(asCallOf: "PATCH /api/v1/auth/me")
            _ = try await useCases.profile.update(
                displayName: try required(name, "displayName"), metadata: nil, of: principal)
        case (.language, .chooseLanguage(let language)):
            try await spend(asCallOf: "PATCH /api/v1/auth/me")
            guard let language else { throw AccountsError.invalidParameter("lang", reason: "is not available") }
            try await useCases.profile.choose(language: language, of: principal)
        case (.password, .changePassword(let password, let current)):
            if current == nil {
                try await spend(asCallOf: "PUT /api/v1/auth/change-password")
            } else {
                try await spend(.login)
            }
            try await requireRecent()
            try await useCases.passwordChange.change(
                to: try required(password, "password"), current: current, by: principal, from: context.client)
        case (.identities, .add(let name)):
            let provider = try issuer.application.providers.named(try required(name, "provider"))
            guard
                issuer.application.providers.linkable(in: context.origin).contains(where: { $0.name == provider.name })
            else {
                throw AccountsError.unsupportedProvider(provider.name)
            }
            return .begins(.linking(provider.name, to: account, at: issuer))
        case (.identities, .remove(let id)): return try await remove(id)
        case (.identities, .changeAddress(let id, let address)):
            return .sent(try await changeAddress(of: id, to: address))
        case (.identities, .verify(let sent, let code)):
            try await spend(asCallOf: "POST /api/v1/auth/identities/{identity}/address/verify")
            guard let sent else { throw AccountsError.missingParameter("code") }
            _ = try await useCases.addressChange.complete(
                of: sent.identity,
                with: PresentedOneTimeCode(challengeID: sent.challenge, code: try required(code, "code")),
                by: principal, from: context.client)
        case (.sessions, .endSession(let id)):
            try await spend(asCallOf: "DELETE /api/v1/auth/sessions/{id}")
            guard let id else { throw AccountsError.sessionNotFound }
            try await useCases.sessions.end(id, by: principal)
        case (.sessions, .endOtherSessions):
            try await spend(.logout)
            try await useCases.sessions.logout(scope: .others, refreshToken: nil, by: principal)
        case (.sessions, .remember(let isRemembered)): return .done(try await remember(isRemembered))
        case (.apps, .revoke(let client)):
            try await spend(asCallOf: "DELETE /api/v1/auth/grants/{clientId}")
            guard let client else { throw AccountsError.grantNotFound }
            try await clientGrants.revoke(client, of: principal.uid, at: issuer)
        case (.merges, .undo(let id)):
            try await spend(asCallOf: "POST /api/v1/auth/merges/{id}/undo")
            try await requireRecent()
            guard let id else { throw AccountsError.mergeNotFound }
            try await useCases.merging.undo(id, by: principal)
        case (.data, .export):
            try await spend(.export)
            try await requireRecent()
            try await useCases.export.begin(by: principal)
            return .answer(.export(useCases.export, of: principal))
        case (.data, .delete(let isConfirmed)):
            try await spend(asCallOf: "DELETE /api/v1/auth/account")
            try await useCases.authentication.requireRecent(principal, for: .deletion)
            guard isConfirmed(account) else {
                throw AccountsError.invalidParameter("word", reason: "is not the word that the page shows")
            }
            return try await deleted(receipt: useCases.deletion.request(by: principal))
        default: return .answer(.reload(isDone: false, nil))
        }
        return .done(nil)
    }

    // MARK: - Actions

    private func remove(_ id: UUID?) async throws -> Outcome {
        try await spend(asCallOf: "DELETE /api/v1/auth/identities/{identity}")
        try await requireRecent()
        guard let id else { throw AccountsError.identityNotFound }
        switch try await useCases.identities.remove(id, by: principal) {
        case .removed: return .done(nil)
        case .accountDeleted(let receipt): return try await deleted(receipt: receipt)
        }
    }

    private func changeAddress(of id: UUID?, to typed: String?) async throws -> SentAddressCode {
        try await spend(.otpClient)
        try await requireRecent()
        guard let id else { throw AccountsError.identityNotFound }
        let address = try required(typed, "address")
        let code = try await useCases.addressChange.begin(
            of: id, typed: { _ in address }, from: context.client, by: principal)
        return SentAddressCode(identity: id, challenge: code.id.text, address: address)
    }

    /// Keeps the session after the browser closes or not, where the application leaves that to the person.
    /// - Returns: The cookie, which the browser keeps as long as one of its sessions.
    private func remember(_ isRemembered: Bool) async throws -> SessionCookie? {
        let settings = issuer.settings.browserSessions
        guard settings.remember == .ask, let cookie = context.browser.sessions else { return nil }
        // Only the pages have this call.
        try await spend(asCallOf: "POST /api/v1/account/sessions")
        try await store.keep(
            account.session.id, for: settings.lifetime, idle: isRemembered ? nil : settings.idle,
            application: issuer.application.id)
        let isKept = isRemembered || others.contains(where: \.isRemembered)
        return SessionCookie(value: cookie, lifetime: isKept ? settings.lifetime : nil)
    }

    private func deleted(receipt: UUID) async throws -> Outcome {
        let status = try await useCases.deletion.status(of: receipt, in: issuer.application)
        return .answer(.deleted(account, receipt: receipt, purgeAfter: status.purgeAfter))
    }

    // MARK: - Checks

    private func requireRecent() async throws { try await useCases.authentication.requireRecent(principal) }

    private func required(_ value: String?, _ name: String) throws -> String {
        guard let value else { throw AccountsError.missingParameter(name) }
        return value
    }

    private func spend(_ limit: RateLimit) async throws {
        try await useCases.limits.spend(limit, of: RateSubject(context.client), in: issuer.application)
    }

    private func spend(asCallOf route: String) async throws {
        try await useCases.limits.spend(asCallOf: route, by: context.client, in: issuer.application)
    }
}
