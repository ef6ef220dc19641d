internal import Accounts
internal import Foundation
internal import OpenID
internal import Pages
internal import ProviderKit

/// The operations of the pages at `/account`.
struct AccountPageOperations: Sendable {
    let pages: AccountPages
    let native: NativeSignIn
    let refusals: RefusalAudit

    typealias Output = (
        answer: AccountResponse, section: AccountSection, issuer: Issuer, arrival: NativeArrival?
    )

    /// Takes an app's secret that the browser has brought.
    var show: Operation<AccountSection, Output> {
        Operation("accountPage.show", limits: .local) { context, section in
            let issuer = try context.issuer
            // A page that there is not must not take the secret, which changes the browser's cookie.
            var pageContext = try pageContext(section, in: issuer.browser(of: context.request), context)
            let arrival = try await native.arrive(pageContext.browser, from: context.client, at: issuer)
            if let arrival { (pageContext.browser, pageContext.arrived) = (arrival.browser, arrival.session) }
            return (try await pages.show(pageContext), section, issuer, arrival)
        }
    }

    /// The use cases count the rate limits of the REST interface.
    var submit: Operation<(section: AccountSection, form: FormFields), Output> {
        Operation(
            "accountPage.submit", limits: .local,
            hashesPassword: { input, _ in
                input().map { $0.section == .password && $0.form.action == "save" } ?? false
            }
        ) { context, input in
            let pageContext = try pageContext(input.section, in: context.issuer.browser(of: context.request), context)
            guard context.request.isFromPage(of: pageContext.issuer) else {
                return (.forged, input.section, pageContext.issuer, nil)
            }
            let action = AccountAction(input.form, in: input.section) { account in
                StepPage.confirms(
                    deletion: input.form["word"] ?? "",
                    in: PageLanguage(
                        of: context.request.request, account: account.locale, at: context.scope.application))
            }
            let answer = try await pages.submit(action, formToken: input.form["csrf"] ?? "", pageContext)
            if case .page(let page) = answer, let problem = page.problem {
                let principal = page.account.principal(in: pageContext.issuer.application)
                await refusals.record(problem, by: principal, context)
            }
            return (answer, input.section, pageContext.issuer, nil)
        }
    }

    private func pageContext(
        _ section: AccountSection, in browser: Authorization.Browser, _ context: OperationContext
    ) throws -> AccountPages.Context {
        let issuer = try context.issuer
        guard issuer.sections.contains(section) else { throw APIError.nothingHere }
        return AccountPages.Context(
            section: section, browser: browser,
            lastUsed: issuer.lastUsedAccount(of: context.request), client: context.client, issuer: issuer,
            origin: context.request.origin)
    }
}

extension RefusalAudit {
    /// Counts a refusal that a page shows, and records it if no use case has, as `APIResponder` and `EndpointResponder`
    /// do for the REST interface.
    func record(
        _ problem: any Error, of provider: String? = nil, by principal: Principal?, _ context: OperationContext
    ) async {
        statistics.count(refusal: problem, in: context.application.id)
        await record(
            problem, of: provider, by: principal, from: context.client, in: context.application,
            operation: context.client.route, log: context.log)
    }
}

extension Issuer {
    /// The sections that accounts of the application have.
    var sections: [AccountSection] {
        let hasPasswords = (try? application.providers.passwordProvider()) != nil
        return AccountSection.allCases.filter { $0 != .password || hasPasswords }
    }
}

extension AccountAction {
    /// The action of a section's form; `nil` if the section has no such action.
    init?(
        _ fields: FormFields, in section: AccountSection,
        isConfirmed: @escaping @Sendable (BrowserAccount) -> Bool
    ) {
        let id = fields["id"].flatMap(UUID.init)
        switch (section, fields.action) {
        case (.overview, "other"): self = .other
        case (.name, "save"): self = .rename(to: fields["displayName"])
        case (.language, "save"):
            self = .chooseLanguage(fields["lang"].flatMap(PageLanguage.init(bytesOf:))?.rawValue)
        case (.password, "save"):
            self = .changePassword(to: fields["password"], current: fields["currentPassword"])
        case (.identities, "add"): self = .add(provider: fields["provider"])
        case (.identities, "remove"): self = .remove(identity: id)
        case (.identities, "address"): self = .changeAddress(of: id, to: fields["address"])
        case (.identities, "verify"):
            var sent: SentAddressCode?
            if let id, let challenge = fields["challenge"], let address = fields["address"] {
                sent = SentAddressCode(identity: id, challenge: challenge, address: address)
            }
            self = .verify(sent, code: fields["code"])
        case (.sessions, "end"): self = .endSession(id)
        case (.sessions, "end-others"): self = .endOtherSessions
        case (.sessions, "keep"): self = .remember(fields["remember"] != nil)
        case (.apps, "revoke"): self = .revoke(client: fields["clientId"])
        case (.merges, "undo"): self = .undo(merge: id)
        case (.data, "export"): self = .export
        case (.data, "delete"): self = .delete(isConfirmed: isConfirmed)
        default: return nil
        }
    }
}
