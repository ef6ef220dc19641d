internal import Accounts
internal import OpenID
internal import ProviderKit

/// The operations of the pages of authorization requests.
struct StepOperations: Sendable {
    let authorization: Authorization
    let steps: RequestSteps
    let qrCodeWaits: QRCodeWaits
    let refusals: RefusalAudit

    typealias Begun = (id: String, flow: String, issuer: Issuer)
    typealias Output = (answer: StepResponse, request: String, issuer: Issuer)

    /// Begins a sign-in that ends at the person's account, or a sign-up.
    func begin(_ prompts: Set<ClientRequest.Prompt>) -> Operation<Void, Begun> {
        Operation("step.begin", limits: .client(.authorize)) { context, _ in
            let issuer = try context.issuer
            var request = ClientRequest(endingAt: .overview, of: issuer)
            request.prompts = prompts
            let (id, flow) = try await authorization.begin(
                request, in: issuer.browser(of: context.request), at: issuer)
            return (id, flow, issuer)
        }
    }

    /// Begins to connect a device, with the code that its page fills in.
    var beginDevice: Operation<FormFields, Begun> {
        Operation("step.beginDevice", limits: .client(.authorize)) { context, query in
            let issuer = try context.issuer
            guard issuer.settings.hasDevices else { throw APIError.nothingHere }
            var request = ClientRequest(.device, endingAt: issuer.devicePage)
            request.userCode = query["user_code"].flatMap { $0.utf8.count <= 64 ? $0 : nil }
            let (id, flow) = try await authorization.begin(
                request, in: issuer.browser(of: context.request), at: issuer)
            return (id, flow, issuer)
        }
    }

    var show: Operation<String, Output> {
        Operation("step.show", limits: .local) { context, request in
            let pageContext = try pageContext(request, context)
            return (try await steps.show(pageContext), request, pageContext.issuer)
        }
    }

    var leave: Operation<(request: String, provider: String), Output> {
        Operation("step.leave", limits: .client(.redirect)) { context, input in
            let pageContext = try pageContext(input.request, context)
            return (try await steps.leave(for: input.provider, pageContext), input.request, pageContext.issuer)
        }
    }

    var cancel: Operation<String, Output> {
        Operation("step.cancel", limits: .local) { context, request in
            let pageContext = try pageContext(request, context)
            return (try await steps.cancel(pageContext), request, pageContext.issuer)
        }
    }

    /// The input is the request, and the state of its code that the page shows.
    var awaitQRCode: Operation<(request: String, shown: String?), ShownQRCode> {
        // Captures nothing else, because thousands of calls wait at once.
        Operation(
            "step.awaitQRCode", limits: .local, errors: [.qrNotFound, .notFound]
        ) { [qrCodeWaits] context, input in
            let issuer = try context.issuer
            return try await qrCodeWaits.state(
                of: input.request, flow: issuer.browser(of: context.request).flow, after: input.shown,
                application: issuer.application.id,
                connection: await context.request.context.channel.clientConnection())
        }
    }

    /// The use cases count the rate limits of the REST interface.
    var submit: Operation<(request: String, form: FormFields), Output> {
        Operation(
            "step.submit", limits: .local,
            hashesPassword: { input, _ in ["password", "save"].contains(input()?.form.action) }
        ) { context, input in
            let pageContext = try pageContext(input.request, context)
            guard context.request.isFromPage(of: pageContext.issuer) else {
                return (.fault(.forged), input.request, pageContext.issuer)
            }
            let answer = try await steps.submit(
                StepAction(input.form), formToken: input.form["csrf"] ?? "", pageContext)
            return (answer, input.request, pageContext.issuer)
        }
    }

    private func pageContext(_ request: String, _ context: OperationContext) throws -> RequestSteps.Context {
        let issuer = try context.issuer
        return RequestSteps.Context(
            request: request, linked: try? context.request.query["step"], browser: issuer.browser(of: context.request),
            client: context.client, issuer: issuer, origin: context.request.origin
        ) { problem, provider, account in
            await refusals.record(
                problem, of: provider, by: account?.principal(in: issuer.application), context)
        }
    }
}

extension StepAction {
    /// The action of a form; `nil` if there is no such action.
    init?(_ fields: FormFields) {
        let remember = fields["remember"] != nil
        switch fields.action {
        case "password":
            self = .password(identifier: fields["identifier"], password: fields["password"], remember: remember)
        case "code": self = .code(identifier: fields["identifier"], remember: remember)
        case "verify": self = .verify(code: fields["code"])
        case "resend": self = .resend
        case "back": self = .back
        case "qr": self = .showQRCode
        case "again": self = .again
        case "finish": self = .finish(remember: remember)
        case "choose": self = .choose(fields["account"])
        case "other": self = .other
        case "forget": self = .forget(fields["account"])
        case "continue": self = .proceed(userCode: fields["user_code"])
        case "allow": self = .allow
        case "deny": self = .deny
        case "save": self = .save(displayName: fields["displayName"], password: fields["password"])
        case "skip": self = .skip
        case "create": self = .create
        case "link": self = .link
        case "keep": self = .keep
        case "switch": self = .switchAccount
        case "merge": self = .merge(survivor: fields["survivor"])
        case "restore": self = .restore
        case "leave": self = .leave
        case "send": self = .sendReset(identifier: fields["identifier"])
        default: return nil
        }
    }
}
