internal import Accounts
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import OpenID
internal import ProviderKit

/// The operations of OpenID clients.
struct OAuthOperations: Sendable {
    let useCases: OpenIDUseCases
    let limits: any RateLimiting
    let metrics: OAuthMetrics
    private let refusals = ClientRefusalLog()

    init(useCases: OpenIDUseCases, limits: any RateLimiting, metrics: OAuthMetrics) {
        (self.useCases, self.limits, self.metrics) = (useCases, limits, metrics)
    }

    typealias Claims = [String: JSONValue]

    /// The parameters with which a client has sent a browser here.
    struct BrowserParameters: Sendable {
        let query: String
        /// What a form has sent, so that the browser may not have sent its cookies; `nil` if none has.
        let form: String?

        /// The parameters as they were sent: those of the form, if it has any.
        var text: String { form.flatMap { $0.isEmpty ? nil : $0 } ?? query }

        /// - Throws: `APIError` if both query and form have parameters.
        func parameters() throws -> RequestParameters {
            guard query.isEmpty || form?.isEmpty ?? true else { throw APIError(.invalidParameter, "Query and form") }
            return try RequestParameters(query: text)
        }

        init(_ request: IncomingRequest) throws {
            query = request.request.uri.query ?? ""
            form = request.request.method == .post ? try request.form : nil
        }
    }

    /// What a browser gets, and what has become of the app's secret that it has brought.
    typealias Authorized = (answer: Authorization.Response, issuer: Issuer, arrival: NativeArrival?)

    var authorize: Operation<BrowserParameters, Authorized> {
        Operation("oauth.authorize", limits: .client(.authorize)) { context, sent in
            let issuer = try context.issuer
            let parameters: RequestParameters
            do { parameters = try sent.parameters() } catch { return (.fault(.invalidRequest), issuer, nil) }
            let browser = issuer.browser(of: context.request)
            // A form is asked for again by a GET.
            let arrival =
                sent.form == nil ? try await useCases.native.arrive(browser, from: context.client, at: issuer) : nil
            let answer = try await useCases.authorization.authorize(
                parameters, asForm: sent.form != nil, in: arrival?.browser ?? browser, at: issuer)
            metrics.count(answer, in: context.application)
            if case .fault(let fault) = answer { note(fault, of: parameters, at: issuer, context) }
            if case .failure(let cause, _, _) = answer {
                context.log.error("Request failed", metadata: ["error": "\(cause)"])
            }
            return (answer, issuer, arrival)
        }
    }

    var logout: Operation<BrowserParameters, (answer: Logout.Response, issuer: Issuer)> {
        Operation("oauth.logout", limits: .client(.authorize)) { context, sent in
            let issuer = try context.issuer
            // Our page's form comes to the URL of the page, whose query does not count.
            guard let parameters = try? RequestParameters(query: sent.text) else {
                return (.fault(.invalidRequest), issuer)
            }
            let browser = issuer.browser(of: context.request)
            guard sent.form != nil, parameters["action"]?.hasSameBytes(as: "signout") == true else {
                if sent.form != nil, browser.sessions == nil { return (useCases.logout.reload(parameters), issuer) }
                let hint = sent.form == nil ? issuer.logoutHint(of: context.request) : nil
                return (try await useCases.logout.answer(parameters, hint: hint, from: browser, at: issuer), issuer)
            }
            guard context.request.isFromPage(of: issuer) else { return (.fault(.forged), issuer) }
            let answer = try await useCases.logout.signOut(
                of: browser, account: parameters["account"], all: parameters["all"] != nil,
                formToken: parameters["csrf"] ?? "", at: issuer)
            return (answer, issuer)
        }
    }

    var push: Operation<OAuthForm, (requestURI: String, expiresIn: Int)> {
        Operation("oauth.push", limits: .none) { context, form in
            try await authenticated(form, context) { parameters, client, issuer in
                do {
                    return try await useCases.authorization.push(parameters, of: client, at: issuer)
                } catch let error as OAuthError where error == .otherRedirectURI {
                    refusals.note(
                        .redirectURI, client: client.id, redirectURI: parameters["redirect_uri"], context)
                    throw error
                }
            }
        }
    }

    var device: Operation<OAuthForm, DeviceGrants.Started> {
        Operation("oauth.device", limits: .client(.device)) { context, form in
            try await authenticated(form, context) { parameters, client, issuer in
                try await useCases.devices.begin(parameters, for: client, from: context.client, at: issuer)
            }
        }
    }

    var token: Operation<OAuthForm, TokenResponse> {
        Operation("oauth.token", limits: .none) { context, form in
            let grant = (try? form.parameters.get())?["grant_type"]
            do {
                let answer = try await authenticated(form, context) { parameters, client, issuer in
                    try await useCases.grants.grant(parameters, to: client, from: context.client, by: issuer)
                }
                metrics.countGrant(grant, in: context.application, error: nil)
                return answer
            } catch {
                metrics.countGrant(grant, in: context.application, error: error)
                throw error
            }
        }
    }

    var introspect: Operation<OAuthForm, Claims> {
        Operation("oauth.introspect", limits: .none) { context, form in
            try await authenticated(form, context) { parameters, client, issuer in
                let token = try parameters.required("token")
                return try await useCases.inspection.introspect(token, by: client, at: issuer)
                    ?? ["active": .bool(false)]
            }
        }
    }

    var revoke: Operation<OAuthForm, Void> {
        Operation("oauth.revoke", limits: .none) { context, form in
            try await authenticated(form, context) { parameters, client, issuer in
                let token = try parameters.required("token")
                try await useCases.inspection.revoke(token, by: client, at: issuer)
            }
        }
    }

    /// The output is `nil` if the request has no access token.
    var userInfo: Operation<OAuthForm, Claims?> {
        Operation("oauth.userInfo", limits: .none) { context, form in
            let issuer = try context.issuer
            let token = try form.parameters.get()["access_token"]
            guard token == nil || form.authorization == nil else {
                throw OAuthError(.invalidRequest, "The access token is sent in two ways at once")
            }
            guard let token = token ?? form.authorization.flatMap(EndpointResponder.bearer) else { return nil }
            return try await useCases.inspection.userInfo(token, at: issuer)
        }
    }

    /// Authenticates the client and runs the body.
    ///
    /// Calls of public clients, of clients that have registered themselves, and failures count toward the limit `token`.
    /// A configured client that succeeds is not limited, so that no neighbour in its network can stop it.
    ///
    /// An id that the database has to look up, and whose keys may have to be fetched, is refused before that if no calls
    /// are left. Installations that succeed are not counted, because many share the network of a mobile operator.
    private func authenticated<Output>(
        _ form: OAuthForm, _ context: OperationContext,
        _ body: (RequestParameters, OAuthClient, Issuer) async throws -> Output
    ) async throws -> Output {
        let (issuer, application) = (try context.issuer, context.application)
        var isCounted = false
        do {
            let parameters = try form.parameters.get()
            let credentials = ClientCredentials(authorization: form.authorization, parameters: parameters)
            if credentials.ids.contains(where: OAuthClient.isRegistered) {
                isCounted = true
                try await limits.spend(.token, of: RateSubject(context.client), in: application)
            } else if credentials.ids.contains(where: OAuthClient.isInstance) {
                try limits.check(.token, of: RateSubject(context.client), in: application)
            }
            let client = try await client(by: credentials, at: issuer, context)
            if client.isPublic, !isCounted {
                isCounted = true
                try await limits.spend(.token, of: RateSubject(context.client), in: application)
            }
            return try await body(parameters, client, issuer)
        } catch let error as OAuthError {
            guard !isCounted else { throw error }
            try await limits.spend(.token, of: RateSubject(context.client), in: application)
            throw error
        }
    }
}

extension OAuthOperations {
    private func client(
        by credentials: ClientCredentials, at issuer: Issuer, _ context: OperationContext
    ) async throws -> OAuthClient {
        do {
            return try await useCases.authentication.client(by: credentials, from: context.client, at: issuer)
        } catch let error as OAuthError where error.code == .invalidClient {
            let name = issuer.settings.name(in: credentials)
            refusals.note(name == nil ? .unknownClient : .authentication, client: name, context)
            throw error
        }
    }

    /// Logs what an operator or the developer of a client has to correct.
    private func note(
        _ fault: AuthorizationFault.PageFault, of parameters: RequestParameters, at issuer: Issuer,
        _ context: OperationContext
    ) {
        switch fault {
        case .invalidClient: refusals.note(.unknownClient, client: nil, context)
        case .invalidRedirectURI:
            let client = parameters["client_id"].flatMap { try? issuer.settings.client($0).id }
            refusals.note(.redirectURI, client: client, redirectURI: parameters["redirect_uri"], context)
        case .invalidRequest, .invalidRequestURI: break
        }
    }
}

extension OperationContext {
    /// The issuer that the called endpoint belongs to.
    /// - Throws: 404 if the application has no such issuer.
    var issuer: Issuer {
        get throws {
            guard let issuer = scope.application.issuer(at: place) else { throw APIError.nothingHere }
            return issuer
        }
    }
}
