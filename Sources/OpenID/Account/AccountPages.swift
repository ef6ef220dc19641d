package import Accounts
package import Foundation
package import ProviderKit

/// The pages on which people see and change their accounts.
///
/// They are about one account of the browser: the one that it used last at these pages, or its only one. If the browser
/// has none, or several of which none was used here, or if an action needs a recent proof, the person continues at an
/// authorization request of the server's own client, which ends at the section. Forms call the use cases of the REST
/// interface, with its rate limits.
package struct AccountPages: Sendable {
    /// What a browser brings to a page.
    package struct Context: Sendable {
        package let section: AccountSection
        package var browser: Authorization.Browser
        /// The id of the session that the browser used last at these pages.
        package let lastUsed: String?
        /// The session that an app has just opened in the browser.
        package var arrived: UUID?
        package let client: Client
        package let issuer: Issuer
        /// What providers may use of the HTTP request.
        package let origin: RequestOrigin

        package init(
            section: AccountSection, browser: Authorization.Browser, lastUsed: String?, client: Client, issuer: Issuer,
            origin: RequestOrigin
        ) {
            self.origin = origin
            (self.section, self.browser, self.lastUsed) = (section, browser, lastUsed)
            (self.client, self.issuer) = (client, issuer)
        }
    }

    let store: any AuthorizationStore
    let useCases: UseCases
    let clientGrants: ClientGrants
    let opaque: any OpaqueTokens

    /// Shows a section.
    package func show(_ context: Context) async throws -> AccountResponse {
        let accounts = try await accounts(of: context)
        // Somebody else's secret may have been planted in this browser, so the person chooses.
        let isForeign = context.arrived != nil && accounts.live.count > 1
        guard !isForeign, let account = accounts.chosen else { return try await signIn(to: accounts.live, context) }
        do {
            return .page(try await page(of: account, context, sent: try await sentCode(to: account, at: context)))
        } catch AccountsError.invalidToken {
            return try await signIn(to: [], context)
        }
    }

    /// The code that the section asks for, which may have been sent from another tab.
    private func sentCode(to account: BrowserAccount, at context: Context) async throws -> SentAddressCode? {
        guard context.section == .identities else { return nil }
        let pending = try await useCases.addressChange.pending(of: account.principal(in: context.issuer.application))
        return pending.map {
            SentAddressCode(identity: $0.identity, challenge: $0.challenge.text, address: $0.address.value)
        }
    }

    /// Carries out a form's action, unless the form was made for another account than the present one.
    ///
    /// A refusal that the person can do something about is shown with the section.
    package func submit(_ action: AccountAction?, formToken: String, _ context: Context) async throws -> AccountResponse
    {
        guard let token = self.formToken(of: context), token.isValid(formToken) else { return .forged }
        let accounts = try await accounts(of: context)
        guard let account = accounts.chosen else { return try await signIn(to: accounts.live, context) }
        var sent: SentAddressCode?
        if case .verify(let code?, _)? = action { sent = code }
        guard let action, token.isCurrent(formToken, showing: content(of: account, context, sent: sent)) else {
            return .reload(isDone: false, nil)
        }
        let form = AccountForm(
            account: account, others: accounts.live.filter { $0.session.id != account.session.id }, context: context,
            useCases: useCases, clientGrants: clientGrants, store: store)
        do {
            switch try await form.carryOut(action) {
            case .done(let cookie): return .reload(isDone: true, cookie)
            case .sent(let code): return .page(try await page(of: account, context, sent: code))
            case .answer(let answer): return answer
            case .otherAccount: return try await begin([.selectAccount], context)
            case .begins(let request): return try await begin(request, for: account, context)
            }
        } catch AccountsError.tokenTooOld {
            return try await begin([.login], for: account, context)
        } catch AccountsError.invalidToken {
            // The session has ended since the page was read.
            return .reload(isDone: false, nil)
        } catch let problem where problem.isForPerson {
            var page = try await page(of: account, context, sent: sent)
            (page.problem, page.typed) = (problem, action.typed)
            return .page(page)
        }
    }

    // MARK: - The account

    /// The browser's accounts that are signed in, and the one that the pages are about.
    private func accounts(of context: Context) async throws -> (chosen: BrowserAccount?, live: [BrowserAccount]) {
        guard let cookie = context.browser.sessions.flatMap(opaque.parse) else { return (nil, []) }
        let lastUsed = context.lastUsed.flatMap(UUID.init)
        let live = try await store.accounts(
            of: cookie.hash, using: lastUsed, application: context.issuer.application.id
        ).filter(\.isLive)
        return (live.first { $0.session.id == lastUsed } ?? (live.count == 1 ? live.first : nil), live)
    }

    private func signIn(to live: [BrowserAccount], _ context: Context) async throws -> AccountResponse {
        try await begin(live.isEmpty ? [] : [.selectAccount], context)
    }

    /// Begins an authorization request that ends at the section.
    private func begin(
        _ prompts: Set<ClientRequest.Prompt>, for account: BrowserAccount? = nil, _ context: Context
    ) async throws -> AccountResponse {
        var request = ClientRequest(endingAt: context.section, of: context.issuer)
        (request.prompts, request.subject) = (prompts, account?.session.uid.text)
        return try await begin(request, for: account, context)
    }

    private func begin(
        _ request: ClientRequest, for account: BrowserAccount?, _ context: Context
    ) async throws -> AccountResponse {
        try await useCases.limits.spend(.authorize, of: RateSubject(context.client), in: context.issuer.application)
        let (id, flow) = try await store.open(
            request, for: account?.session.id, in: context.browser, at: context.issuer, by: opaque)
        return .request(id, flow: flow)
    }

    // MARK: - Pages

    private func formToken(of context: Context) -> FormToken? {
        context.browser.flow.flatMap(opaque.parse).map {
            FormToken(opaque: opaque, flow: $0, path: context.section.path)
        }
    }

    /// What a page shows, by which its forms are recognised.
    private func content(of account: BrowserAccount, _ context: Context, sent: SentAddressCode? = nil) -> String {
        let form = sent.map { " \($0.identity.text) \($0.challenge) \($0.address)" } ?? ""
        return "\(context.section.rawValue) \(account.session.id.text)\(form)"
    }

    private func page(
        of account: BrowserAccount, _ context: Context, sent: SentAddressCode? = nil
    ) async throws -> ShownAccount {
        let flow = context.browser.flow.flatMap(opaque.parse) ?? opaque.make()
        let token = FormToken(opaque: opaque, flow: flow, path: context.section.path)
        return ShownAccount(
            section: context.section, account: account,
            content: try await content(of: account, at: context, sent: sent),
            formToken: token.text(showing: content(of: account, context)),
            codeToken: sent.map { token.text(showing: content(of: account, context, sent: $0)) }, flow: flow.text)
    }

    private func content(
        of account: BrowserAccount, at context: Context, sent: SentAddressCode?
    ) async throws -> AccountContent {
        let principal = account.principal(in: context.issuer.application)
        switch context.section {
        case .overview: return .overview
        case .name: return .name
        case .language: return .language
        case .data: return .data
        case .password:
            let provider = (try? principal.application.providers.passwordProvider())?.0.name
            let identities = try await useCases.identities.list(of: principal)
            return .password(isPossible: identities.contains { $0.identity.provider == provider })
        case .identities: return .identities(try await useCases.identities.list(of: principal), sent: sent)
        case .sessions: return .sessions(try await useCases.sessions.list(of: principal))
        case .apps: return .apps(try await clientGrants.list(of: principal.uid, at: context.issuer))
        case .merges: return .merges(try await useCases.merging.list(of: principal))
        }
    }
}
