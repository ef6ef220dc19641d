internal import ProviderKit

/// An app's request to begin a redirect flow (RFC 6749, 4.1.1; RFC 7636, 4.3).
package struct AuthorizationRequest: Sendable {
    package var redirectURI, codeChallenge, codeChallengeMethod, state: String?
    /// The name of the field that has the code challenge, for errors.
    package var challengeName = "code_challenge"
    /// Whether the response is the redirect itself, so that its cookie can bind the flow to the browser.
    package var isBrowserDriven: Bool
    /// Whether the session that the flow opens is short (`Client.opensShortSession`).
    package var opensShortSession = false
    /// What the app passes to the provider's page (`RedirectProvider.forwardedParameters`).
    package var parameters: [String: String] = [:]

    package init(
        redirectURI: String?, codeChallenge: String?, codeChallengeMethod: String?, state: String?,
        isBrowserDriven: Bool
    ) {
        (self.redirectURI, self.codeChallenge) = (redirectURI, codeChallenge)
        (self.codeChallengeMethod, self.state, self.isBrowserDriven) = (codeChallengeMethod, state, isBrowserDriven)
    }

    /// `generatedState` is used if the app did not send a state.
    /// - Throws: `AccountsError.redirectNotAllowed` for a redirect URI that is not registered.
    package func destination(in application: Application, generatedState: String) throws -> FlowDestination {
        guard let redirectURI else { throw AccountsError.missingParameter("redirect_uri") }
        guard let registered = application.redirectURIs.first(where: { $0.uri.hasSameBytes(as: redirectURI) }) else {
            throw AccountsError.redirectNotAllowed
        }
        if let state, !(1...1024).contains(state.utf8.count) || state.utf8.contains(0) {
            throw AccountsError.invalidParameter("state", reason: "is empty, longer than 1024 bytes or has U+0000")
        }
        return FlowDestination(
            redirectURI: registered.uri, appState: state ?? generatedState,
            codeChallenge: try checkedChallenge(isRequired: registered.requiresPKCE),
            opensShortSession: opensShortSession)
    }

    private func checkedChallenge(isRequired: Bool) throws -> String? {
        guard let codeChallenge else {
            guard !isRequired, codeChallengeMethod == nil else {
                throw AccountsError.missingParameter(challengeName)
            }
            return nil
        }
        // Without a method, `plain` would apply (RFC 7636, 4.3), which does not protect the code.
        guard codeChallengeMethod?.hasSameBytes(as: "S256") == true else {
            throw AccountsError.invalidParameter("code_challenge_method", reason: "must be S256")
        }
        guard CodeChallenge.isWellFormed(codeChallenge) else {
            throw AccountsError.invalidParameter(challengeName, reason: "is not a SHA-256 hash in base64url")
        }
        return codeChallenge
    }
}
