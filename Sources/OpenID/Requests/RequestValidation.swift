package import Accounts
internal import Foundation
internal import ProviderKit

/// Why an authorization request is not answered with a code or a page for the person.
package enum AuthorizationFault: Error, Equatable {
    /// Client and redirect URI are not certain, so the browser is sent nowhere.
    case page(PageFault)
    case redirect(OAuthError, to: ReturnAddress)

    /// The name of an error page.
    package enum PageFault: String, Sendable {
        case invalidClient = "invalid_client"
        case invalidRedirectURI = "invalid_redirect_uri"
        case invalidRequest = "invalid_request"
        case invalidRequestURI = "invalid_request_uri"
    }
}

/// Checks the parameters of authorization requests, first those that say where an error may go.
package struct RequestValidation: Sendable {
    let jwts: any ApplicationJWTs
    let directory: ClientDirectory

    package init(jwts: any ApplicationJWTs, directory: ClientDirectory) {
        (self.jwts, self.directory) = (jwts, directory)
    }

    /// The client and the address for the answer.
    /// - Throws: `AuthorizationFault.page`; `.redirect` if the client may not use the authorization endpoint; an
    ///   error of the store.
    package func returnAddress(
        of parameters: RequestParameters, at issuer: Issuer
    ) async throws -> (client: OAuthClient, address: ReturnAddress) {
        guard let id = parameters["client_id"], let client = try await directory.find(id, at: issuer) else {
            throw AuthorizationFault.page(.invalidClient)
        }
        guard let uri = parameters["redirect_uri"], client.hasRedirectURI(uri) else {
            throw AuthorizationFault.page(.invalidRedirectURI)
        }
        var address = ReturnAddress(redirectURI: uri)
        if let state = parameters["state"], state.utf8.count <= 2048 { address.state = state }
        if let mode = parameters["response_mode"].flatMap(ReturnAddress.Mode.init(bytesOf:)) { address.mode = mode }
        guard client.grants.contains(.authorizationCode) else {
            throw AuthorizationFault.redirect(.unauthorizedClient, to: address)
        }
        return (client, address)
    }

    /// Checks the parameters that follow client and redirect URI.
    ///
    /// `isPushed` is whether the client has sent the parameters itself.
    package func validate(
        _ parameters: RequestParameters, of client: OAuthClient, to address: ReturnAddress, isPushed: Bool,
        at issuer: Issuer
    ) async throws -> ClientRequest {
        let (settings, application) = (issuer.settings, issuer.application)
        try parameters.check()
        try Self.checkUnsupported(parameters)
        guard isPushed || !client.requiresPushedRequests else {
            throw OAuthError.invalidRequest("The client must push its requests")
        }
        guard try parameters.required("response_type").hasSameBytes(as: "code") else {
            throw OAuthError(.unsupportedResponseType, "response_type must be code")
        }
        if let mode = parameters["response_mode"], ReturnAddress.Mode(bytesOf: mode) == nil {
            throw OAuthError.invalidRequest("response_mode must be query or form_post")
        }
        let available = settings.grantable(to: client)
        var request = ClientRequest(
            clientID: client.id, returnAddress: address, scopes: Self.scopes(parameters, of: client, from: available))
        guard !request.scopes.isEmpty else { throw OAuthError.noScope }
        request.resources = try Self.resources(
            parameters, of: client, granting: Set(request.scopes), settings: settings)
        request.codeChallenge = try Self.challenge(parameters, isRequired: client.requiresPKCE)
        request.nonce = parameters["nonce"]
        request.prompts = try Self.prompts(parameters)
        request.maxAge = try Self.maxAge(parameters) ?? client.defaultMaxAge
        request.loginHint = parameters["login_hint"]
        request.provider = parameters["provider"].flatMap { name in
            application.providers.redirecting.first { $0.name.hasSameBytes(as: name) }?.name
        }
        request.locales = parameters.words("ui_locales").prefix(20).filter { $0.utf8.count <= 35 }
        try await addHints(of: parameters, to: &request, client: client, allowing: available, at: issuer)
        return request
    }

    // MARK: - Parameters

    private static func checkUnsupported(_ parameters: RequestParameters) throws(OAuthError) {
        guard parameters["request"] == nil else { throw OAuthError(.requestNotSupported, "request is not supported") }
        guard parameters["request_uri"] == nil else {
            throw OAuthError(.requestURINotSupported, "Only a request_uri of this server is supported")
        }
        guard parameters["registration"] == nil else {
            throw OAuthError(.registrationNotSupported, "registration is not supported")
        }
    }

    /// The scopes that the client asks for and may have; `access_type` adds or removes `offline_access`.
    ///
    /// `others` are what a client asks for that sends no `scope`.
    static func scopes(
        _ parameters: RequestParameters, of client: OAuthClient, from available: Set<String>,
        whereAbsent others: [String] = []
    ) -> [String] {
        let offline = StandardScope.offlineAccess.rawValue
        let asked = parameters["scope"] == nil ? others : parameters.words("scope")
        var scopes = asked.filter { available.containsBytes(of: $0) }
        let accessType = Self.isOffline(parameters["access_type"]) ?? client.isOffline
        if let accessType {
            scopes.removeAll { $0 == offline }
            if accessType, available.contains(offline), !scopes.isEmpty { scopes.append(offline) }
        }
        if !client.grants.contains(.refreshToken) { scopes.removeAll { $0 == offline } }
        return scopes
    }

    private static func isOffline(_ accessType: String?) -> Bool? {
        guard let accessType else { return nil }
        if accessType.hasSameBytes(as: "offline") { return true }
        return accessType.hasSameBytes(as: "online") ? false : nil
    }

    /// The resources that are named, or without any, those of which the client gets a scope.
    static func resources(
        _ parameters: RequestParameters, of client: OAuthClient, granting scopes: Set<String>, settings: OpenIDSettings
    ) throws(OAuthError) -> [String] {
        let named = parameters.all("resource")
        guard named.allSatisfy({ client.resources.containsBytes(of: $0) }) else {
            throw OAuthError(.invalidTarget, "A resource is not one of the client's")
        }
        guard named.isEmpty else { return client.resources.filter { named.containsBytes(of: $0) } }
        return client.resources.filter { !scopes.isDisjoint(with: settings.scopes(ofResource: $0)) }
    }

    private static func challenge(
        _ parameters: RequestParameters, isRequired: Bool
    ) throws(OAuthError) -> String? {
        let method = parameters["code_challenge_method"]
        guard let challenge = parameters["code_challenge"] else {
            guard !isRequired, method == nil else { throw .invalidRequest("code_challenge is missing") }
            return nil
        }
        guard method?.hasSameBytes(as: "S256") == true else {
            throw .invalidRequest("code_challenge_method must be S256")
        }
        guard CodeChallenge.isWellFormed(challenge) else {
            throw .invalidRequest("code_challenge is not a SHA-256 hash in base64url")
        }
        return challenge
    }

    private static func prompts(_ parameters: RequestParameters) throws(OAuthError) -> Set<ClientRequest.Prompt> {
        let words = parameters.words("prompt")
        let prompts = Set(words.compactMap(ClientRequest.Prompt.init(bytesOf:)))
        guard prompts.count == words.count else { throw .invalidRequest("prompt has an unknown value") }
        guard !prompts.contains(.none) || prompts.count == 1 else {
            throw .invalidRequest("prompt=none allows no other value")
        }
        return prompts
    }

    /// The seconds of `max_age`; a number that is too large counts as the largest, which no authentication reaches.
    private static func maxAge(_ parameters: RequestParameters) throws(OAuthError) -> Int? {
        guard let text = parameters["max_age"] else { return nil }
        guard text.utf8.allSatisfy(\.isASCIIDigit) else {
            throw .invalidRequest("max_age is not a number of seconds")
        }
        return Int(text) ?? .max
    }

    // MARK: - Hints

    private func addHints(
        of parameters: RequestParameters, to request: inout ClientRequest, client: OAuthClient,
        allowing scopes: Set<String>, at issuer: Issuer
    ) async throws {
        if let text = parameters["claims"] {
            (request.claims, request.subject) = try RequestedClaims.parse(text, allowing: scopes)
        }
        guard let token = parameters["id_token_hint"] else { return }
        let hint: IdentityTokenHint?
        do {
            hint = try await IdentityTokenHint.verified(token, of: client.id, by: jwts, at: issuer)
        } catch AccountsError.invalidToken {
            throw OAuthError.invalidRequest("id_token_hint is not an ID token of this client")
        }
        guard let hint else { return }
        guard request.subject?.hasSameBytes(as: hint.subject) ?? true else {
            throw OAuthError.invalidRequest("id_token_hint and claims name different accounts")
        }
        request.subject = hint.subject
    }
}
