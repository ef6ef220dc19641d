internal import Accounts
internal import Administration
internal import Console
internal import HTTPTypes
internal import Hummingbird
internal import OpenID
internal import ProviderKit

/// The pages of a link with which a person becomes an administrator.
///
/// The link itself needs no session and changes nothing, because programs that scan mail open it too. Its form keeps the
/// token in a sealed cookie and leads to the sign-in. Then the page names the account that would get the role, and its
/// form uses the link up.
struct ConsoleClaim: Sendable {
    static let path = "/console/claim"
    /// How long the cookie keeps the token, in seconds.
    private static let cookieTime = 3600

    let console: ConsoleServices

    private var entrance: ConsoleGuard { ConsoleGuard(console: console) }
    private var signIn: ConsoleSignIn { ConsoleSignIn(console: console) }

    var show: Operation<Void, Response> {
        Operation("console.claim.show", limits: .administration) { context, _ in
            let query = try context.request.query
            if let token = query["token"] { return try await showInvitation(of: token, context) }
            guard let token = try keptToken(in: context) else { return Self.gone }
            // Another account than the one that the browser is signed in to.
            if query["account"] != nil {
                return try signIn.begin(returningTo: Self.path, prompting: true, from: context)
            }
            switch try await entrance.person(context) {
            case .refused(let response): return response
            case .signedIn(let session):
                guard try isFresh(session, context) else { return try prove(session, context) }
                return try await showOffer(of: token, to: session, context)
            }
        }
    }

    var submit: Operation<Void, Response> {
        Operation("console.claim.submit", limits: .administration) { context, _ in
            if let token = try FormFields(context.request.form)["token"] { return try await keep(token, context) }
            switch try await entrance.person(context) {
            case .refused(let response): return response
            case .signedIn(let session):
                guard let token = try keptToken(in: context) else { return Self.gone }
                return try await use(token, by: session, context)
            }
        }
    }

    // MARK: - Before the sign-in

    private func showInvitation(of token: String, _ context: OperationContext) async throws -> Response {
        guard let invitation = try await invitations(context).look(at: token),
            var values = Self.values(of: invitation, in: context)
        else { return Self.gone }
        values["token"] = .string(token)
        values["address"] = invitation.address.map { .string(Mask.email($0.value)) }
        return .console(page("invited", values))
    }

    private func keep(_ token: String, _ context: OperationContext) async throws -> Response {
        let (settings, issuer) = try context.console
        let session = try await entrance.session(of: context)
        guard !entrance.isForeign(context.request.request, settings) else {
            return await entrance.refuseForeign(in: session, context)
        }
        guard try await invitations(context).look(at: token) != nil else { return Self.gone }
        var response =
            if let session {
                try isFresh(session, context) ? .seeOther(Self.path) : try prove(session, context)
            } else {
                try signIn.begin(returningTo: Self.path, from: context)
            }
        let value = try console.sessions.cookie(
            of: ["token": .string(token)], purpose: "claim", for: Self.cookieTime, home: issuer.application)
        response.headers.append(ConsoleCookie.claim.set(value, for: Self.cookieTime, settings: settings))
        return response
    }

    private func keptToken(in context: OperationContext) throws -> String? {
        let (settings, issuer) = try context.console
        let cookie = ConsoleCookie.claim.value(in: context.request, settings: settings)
        return console.sessions.value(ofCookie: cookie, purpose: "claim", home: issuer.application)?["token"].string
    }

    // MARK: - After it

    /// Whether the person's proof is recent enough for this act.
    private func isFresh(_ session: ConsoleSession, _ context: OperationContext) throws -> Bool {
        try !session.isIdle && session.proofAge <= context.console.settings.rules.stepUp
    }

    /// Sends the person to prove again who they are.
    ///
    /// There is no typed form to keep.
    private func prove(_ session: ConsoleSession, _ context: OperationContext) throws -> Response {
        try signIn.begin(returningTo: Self.path, prover: session.uid, from: context)
    }

    private func showOffer(
        of token: String, to session: ConsoleSession, problem: APIError? = nil, _ context: OperationContext
    ) async throws -> Response {
        let invitations = try invitations(context)
        guard let invitation = try await invitations.look(at: token),
            var values = Self.values(of: invitation, in: context)
        else { return Self.gone }
        guard invitation.admits(session.uid) else { return refused() }
        let address = try await invitations.address(of: session.uid)
        values["account"] = .string(address ?? session.name.map(Mask.name) ?? session.uid.text)
        values["csrf"] = .string(console.sessions.formToken(for: Self.path, in: session))
        let former = session.grants.first { $0.application == invitation.application }
        values["former"] = former.flatMap { $0.role == invitation.role ? nil : .string($0.role.rawValue) }
        values["refusal"] = problem?.shown()
        return .console(page("offer", values), status: .init(code: problem?.status ?? 200))
    }

    /// Uses the link up, or leaves it as it was if the role can't be granted.
    private func use(_ token: String, by session: ConsoleSession, _ context: OperationContext) async throws -> Response
    {
        let (settings, issuer) = try context.console
        guard try isFresh(session, context) else { return try prove(session, context) }
        let invitations = try invitations(context)
        let actor = AdministrativeAct.Actor.account(pseudonym: session.pseudonym)
        do {
            let outcome = try await console.administration.capacity.run {
                try await invitations.use(
                    token, by: session.uid, among: context.scope.site.applications.values.map(\.application),
                    as: AdministrativeAct(by: actor))
            }
            switch outcome {
            case .granted: break
            case .gone: return Self.gone
            case .addressedToAnother:
                await console.administration.audit(
                    refusalOf: "console.claim", for: ["reason": "address"], to: actor, in: issuer.application,
                    log: context.log)
                return refused()
            }
        } catch {
            guard let problem = APIError(any: error), problem.code != .internal else { throw error }
            return try await showOffer(of: token, to: session, problem: problem, context)
        }
        var response = Response.seeOther("/console")
        response.headers.append(ConsoleCookie.claim.drop(settings: settings))
        response.headers.append(
            try console.saying("admins.claim", in: session, settings: settings, home: issuer.application))
        return response
    }

    // MARK: - Pages

    /// The page of a link that is unknown, used or expired.
    private static var gone: Response { .notice("claim", refusing: .notFound) }

    /// The page for an account that does not own the address that the link names.
    private func refused() -> Response {
        let problem = APIError(.forbidden, ConsoleTemplates.text("claim.refused.text") ?? "")
        return .console(page("refused", ["refusal": problem.shown()]), status: .forbidden)
    }

    private func page(_ name: String, _ values: [String: JSONValue]) -> ConsolePage {
        var values = values
        values["path"] = .string(Self.path)
        return ConsolePage("claim", title: ConsoleTemplates.text("claim.\(name).title") ?? "Console", values)
    }

    /// The role of an invitation in words; `nil` if the server no longer has the application.
    private static func values(
        of invitation: AdminInvitation, in context: OperationContext
    ) -> [String: JSONValue]? {
        let role = invitation.role.rawValue
        var place = "all applications"
        if let id = invitation.application {
            let applications = context.scope.site.applications.values
            guard let known = applications.first(where: { $0.application.id == id }) else { return nil }
            place = known.application.name
        }
        var values: [String: JSONValue] = ["role": .string(role), "place": .string(place)]
        values["meaning"] = ConsoleTemplates.text("claim.role.\(role)").map { .string($0) }
        return values
    }

    private func invitations(_ context: OperationContext) throws -> AdminInvitations {
        console.administration.adminInvitations(home: try context.console.issuer.application)
    }
}
