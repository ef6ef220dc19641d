internal import Accounts
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import OpenID
internal import Pages
internal import ProviderKit

/// The pages on which people see and change their accounts.
struct AccountPageRoutes {
    let operations: AccountPageOperations

    /// The fields of the sections' forms; each section has some of them.
    private static let fields: [OperationDescription.Parameter] =
        .ofPages + [
            .init("id", help: "The identity, session or merge."), .init("displayName", help: "The person's name."),
            .init("lang", help: "The language of mails and pages."), .init("password", help: "The new password."),
            .init("currentPassword", help: "The present password."),
            .init("provider", help: "The provider of a new identity."),
            .init("address", help: "The new address of an identity."),
            .init("challenge", help: "The change of address that the page has begun."),
            .init("code", help: "The code that was sent to the new address."),
            .init("remember", help: "Present if the session is to last after the browser closes."),
            .init("clientId", help: "The app whose access ends."),
            .init("word", help: "The word that confirms the deletion."),
        ]

    /// Apps of Blitz lead people to `/blitz/profile`, to which browsers also send the apps' cookies.
    private static let paths: KeyValuePairs<String, Issuer.Place> = [
        "/account": .plain, "/account/{section}": .plain, "/profile": .blitz,
    ]

    var endpoints: [Endpoint] {
        Self.paths.flatMap { path, place in
            [
                operations.show.at(
                    .get, below: place.base, path, "Shows a section of the person's account",
                    takes: .issuer(.get) { try $0.section }.at(place), returns: .account, answersHEAD: false),
                operations.submit.at(
                    .post, below: place.base, path, "Takes a form of the section",
                    takes: .issuer(.post, Self.fields) { (try $0.section, try $0.fields()) }.at(place),
                    returns: .account),
            ]
        }
    }
}

extension IncomingRequest {
    fileprivate var section: AccountSection {
        get throws {
            guard let name = context.parameters.get("section") else { return .overview }
            guard let section = AccountSection(rawValue: name), section != .overview,
                name.hasSameBytes(as: section.rawValue)
            else { throw APIError.nothingHere }
            return section
        }
    }
}

extension ResponseShape<AccountPageOperations.Output> {
    fileprivate static var account: Self {
        Self(
            responses: [
                .page, .init(description: "The file with the account's data", contentType: "application/json"),
                .init(status: .seeOther, description: "The section, or a page where the person signs in first"),
            ] + .stepErrors, writesError: Response.stepError
        ) { output, context in
            let (answer, section, issuer, arrival) = output
            switch answer {
            case .page(let page):
                return .account(page, at: issuer, context: context).setting(arrival, of: issuer)
            case .reload(let isDone, let cookie):
                let query: KeyValuePairs<String, String?> = ["done": isDone ? "1" : nil]
                var response = Response.seeOther(issuer.url(of: section).addingQuery(query)).setting(cookie, of: issuer)
                // A saved language counts from then on.
                if isDone, section == .language { issuer.dropLanguage(in: &response) }
                return response
            case .request(let id, let flow):
                return .beginning(id, in: flow, at: issuer).setting(arrival, of: issuer)
            case .export(let export, let principal): return .export(export, of: principal.uid, context: context)
            case .deleted(let account, let receipt, let purgeAfter):
                let language = PageLanguage(
                    of: context.request.request, account: account.locale, at: context.scope.application)
                let step = StepPage.Step.deleted(
                    receipt: context.erasurePath(receipt), restorableUntil: account.session.isGuest ? nil : purgeAfter)
                return .page(StepPage(step, in: language, of: context.scope.application).page)
            case .forged: return .step(.error(reason: "csrf", url: nil), status: .forbidden, context: context)
            }
        }
    }
}

extension Response {
    /// The page of a section, with the status of what was refused.
    fileprivate static func account(
        _ shown: ShownAccount, at issuer: Issuer, context: OperationContext
    ) -> Response {
        let (request, application) = (context.request.request, context.scope.application)
        let language = PageLanguage(of: request, account: shown.account.locale, at: application)
        var section = AccountPage(shown, in: language, at: issuer, origin: context.request.origin)
        let query = try? context.request.query
        section.isDone = request.method == .get && query?["done"] != nil
        section.number = query?["page"].flatMap { Int($0) } ?? 1
        var page = StepPage(.account(section), in: language, of: application)
        page.formToken = shown.formToken
        var response = Response.step(page, problem: shown.problem.flatMap { APIError(any: $0) })
        response.headers[.setCookie] = issuer.setCookie("browser", to: shown.flow)
        return response
    }
}
