/// An error of the OAuth endpoints (RFC 6749, 4.1.2.1 and 5.2).
package struct OAuthError: Error, Sendable, Codable, Equatable {
    package enum Code: String, Sendable, Codable, CaseIterable {
        case invalidRequest = "invalid_request"
        case invalidClient = "invalid_client"
        case invalidGrant = "invalid_grant"
        case unauthorizedClient = "unauthorized_client"
        case unsupportedGrantType = "unsupported_grant_type"
        case unsupportedResponseType = "unsupported_response_type"
        case unsupportedTokenType = "unsupported_token_type"
        case invalidScope = "invalid_scope"
        case invalidTarget = "invalid_target"
        case authorizationPending = "authorization_pending"
        case slowDown = "slow_down"
        case expiredToken = "expired_token"
        case invalidRedirectURI = "invalid_redirect_uri"
        case invalidClientMetadata = "invalid_client_metadata"
        case invalidSoftwareStatement = "invalid_software_statement"
        case unapprovedSoftwareStatement = "unapproved_software_statement"
        case accessDenied = "access_denied"
        case invalidToken = "invalid_token"
        case insufficientScope = "insufficient_scope"
        case temporarilyUnavailable = "temporarily_unavailable"
        case serverError = "server_error"
        case loginRequired = "login_required"
        case interactionRequired = "interaction_required"
        case consentRequired = "consent_required"
        case accountSelectionRequired = "account_selection_required"
        case unmetAuthenticationRequirements = "unmet_authentication_requirements"
        case requestNotSupported = "request_not_supported"
        case requestURINotSupported = "request_uri_not_supported"
        case registrationNotSupported = "registration_not_supported"
    }

    package let code: Code
    /// A text for developers of clients; never repeats what was sent.
    package let description: String

    package init(_ code: Code, _ description: String) { (self.code, self.description) = (code, description) }
}

extension OAuthError {
    /// The error of a request that `nextStep` refuses.
    init(refusing code: Code) {
        let reason =
            switch code {
            case .accessDenied: "The person has signed in with another account than the request names"
            case .unmetAuthenticationRequirements: "The sign-in does not have the acr that the request requires"
            default: "The request cannot be answered without the person"
            }
        self.init(code, reason)
    }

    static func invalidRequest(_ description: String) -> OAuthError { OAuthError(.invalidRequest, description) }

    /// The same error for an unknown client and for one whose secret is wrong.
    package static let invalidClient = OAuthError(.invalidClient, "Client authentication failed.")

    static let unauthorizedClient = OAuthError(
        .unauthorizedClient, "The client may not use the authorization endpoint")

    static let noScope = OAuthError(.invalidScope, "The client may have none of the scopes")
    static let invalidToken = OAuthError(.invalidToken, "The access token is not valid")
    package static let otherRedirectURI = invalidRequest("redirect_uri is not registered")
    static let otherClient = invalidRequest("client_id is not the authenticated client")

    package static let invalidGrant = OAuthError(
        .invalidGrant,
        """
        The provided authorization grant is invalid, expired, revoked, does not match the redirection URI used in the \
        authorization request, or was issued to another client.
        """)
}
