internal import Accounts
internal import HTTPTypes
internal import OpenID
internal import ProviderKit

/// How an app of Immich signs a person in: with a password, or at the pages of one provider.
struct ImmichSignIn {
    let operations: Operations

    var endpoints: [Endpoint] {
        [
            operations.passwords.signIn.at(
                .post, below: "/api", "/auth/login", "Signs in with a password",
                takes: .json(ImmichLogin.self) { body, request in
                    guard try request.immich.offersPasswords else { throw ImmichEnvelope.isOff }
                    return LoginBody(email: body.email, password: body.password, ticket: nil, remember: nil)
                }.namingDevice, returns: .json(status: .created, inContext: ImmichSession.init)),
            operations.providers.beginSignIn.at(
                .get, below: "/api", "/oauth/authorize", "The page at which the person signs in",
                takes: .immichQuery, returns: .json, answersHEAD: false),
            operations.providers.beginSignIn.at(
                .post, below: "/api", "/oauth/authorize", "The page at which the person signs in",
                takes: .json(ImmichAuthorization.self) { body, request in
                    try start(
                        redirectURI: body.redirectUri, challenge: body.codeChallenge, method: "S256",
                        state: body.state, in: request)
                }, returns: .json(status: .created, ImmichPage.init)),
            operations.providers.redeemPosted.at(
                .post, below: "/api", "/oauth/callback", "Signs in with the URL at which the provider's pages ended",
                takes: .json(ImmichCallback.self) { try $0.presented(in: $1) }.namingDevice,
                returns: .json(status: .created, inContext: ImmichSession.init)),
        ]
    }
}

// MARK: - Requests

struct ImmichLogin: RequestPayload {
    let email, password: String?

    static let fields = RequestFields(
        Self.init, .init("email", .email, isRequired: true), .init("password", .filledText, isRequired: true))
}

struct ImmichAuthorization: RequestPayload {
    let redirectUri, state, codeChallenge: String?

    static let fields = RequestFields(
        Self.init, .init("redirectUri"), .init("state"), .init("codeChallenge", .codeChallenge))
}

struct ImmichCallback: RequestPayload {
    let url: String
    let state, codeVerifier: String?

    static let fields = RequestFields(Self.init, .init("url"), .init("state"), .init("codeVerifier"))

    /// - Throws: 400 unless the URL belongs to one of this application's apps and has a code and a state.
    func presented(in request: IncomingRequest) throws -> PresentedCode {
        let url = try ReturnURL(url)
        let candidates = request.application?.appURIs(like: url.address) ?? []
        guard !candidates.isEmpty else {
            throw APIError(.invalidParameter, "url is not one of the application's redirect URIs")
        }
        switch url.outcome {
        case .error(let name):
            throw APIError(.invalidParameter, "OAuth login failed: \(name)")
        case .code(let code, let urlState):
            if let state, !state.hasSameBytes(as: urlState) { throw AccountsError.invalidState }
            return PresentedCode(code: code, state: urlState, redirectURIs: candidates, codeVerifier: codeVerifier)
        }
    }
}

extension RequestShape {
    /// The same with the fields by which `Immich.device` names a new session.
    fileprivate var namingDevice: Self {
        var shape = self
        shape.taken.headers = [
            .init(HTTPField.Name.deviceModel.rawName, help: "The model of the device, as in iPhone 14 Pro."),
            .init(HTTPField.Name.deviceType.rawName, help: "The system of the device, as in iOS."),
        ]
        return shape
    }
}

extension RequestShape<ProviderOperations.Start> {
    fileprivate static var immichQuery: Self {
        let parameters: [OperationDescription.Parameter] = [
            .init("code_challenge", required: true, help: "The app's proof key.", schema: .codeChallenge),
            .init("code_challenge_method", required: true, help: "S256.", schema: .enumeration(["S256"])),
            .init("state", help: "Returned unchanged; generated if absent."),
        ]
        return Self(taken: TakenRequest(parameters: parameters)) { request in
            let query = try request.query
            return try start(
                redirectURI: nil, challenge: query["code_challenge"], method: query["code_challenge_method"],
                state: query["state"], in: request, naming: "code_challenge")
        }
    }
}

/// A request to begin a flow at the configured provider, which never ends at a URI that is not registered.
///
/// `name` is what the call names the proof key.
private func start(
    redirectURI: String?, challenge: String?, method: String?, state: String?, in request: IncomingRequest,
    naming name: String = "codeChallenge"
) throws -> ProviderOperations.Start {
    guard let provider = try request.immich.provider else { throw ImmichEnvelope.isOff }
    guard let challenge else { throw AccountsError.missingParameter(name) }
    var authorization = AuthorizationRequest(
        redirectURI: try registered(redirectURI, in: request), codeChallenge: challenge, codeChallengeMethod: method,
        state: state, isBrowserDriven: false)
    authorization.challengeName = name
    return (provider, authorization)
}

/// The registered URI that a request names, with the slashes that the app may have rewritten, or the default.
private func registered(_ redirectURI: String?, in request: IncomingRequest) throws -> String {
    guard let redirectURI else {
        guard let only = try request.immich.redirectURI else {
            throw APIError(.missingParameter, "redirectUri is missing, and the application has no default")
        }
        return only
    }
    guard let registered = request.application?.appURIs(like: redirectURI).first else {
        throw APIError(.unauthorizedRequestOrigin, "redirectUri is not on the application's list")
    }
    return registered
}

// MARK: - Responses

/// The answer to every sign-in.
private struct ImmichSession: ResponsePayload {
    let signedIn: SignedIn
    let isAdministrator: Bool

    init(_ signedIn: SignedIn, in context: OperationContext) throws {
        self.signedIn = signedIn
        isAdministrator = try context.immich.isAdministrator(signedIn.session.user)
    }

    static let fields = ResponseFields<Self>("ImmichSession") {
        // A session bearer or an access token; apps never look inside.
        Field("accessToken", \.signedIn.tokens.accessToken)
        Field("userId", \.signedIn.session.user.uid)
        // Empty without a verified address.
        Field("userEmail", \.signedIn.session.user.immichEmail)
        Field("name", \.signedIn.session.user.immichName)
        Field("profileImagePath") { _ in "" }
        Field("isAdmin", \.isAdministrator)
        Field("shouldChangePassword", \.signedIn.session.shouldChangePassword)
        Field("isOnboarded") { _ in true }
    }
}

/// The page that the app opens; it keeps the state itself.
private struct ImmichPage: ResponsePayload {
    let url: String

    init(_ redirect: AuthorizationRedirect) { url = redirect.url }

    static let fields = ResponseFields<Self>("ImmichPage") { Field("url", \.url) }
}

extension User {
    var immichEmail: String { email ?? "" }
    var immichName: String { displayName ?? immichEmail }
}
