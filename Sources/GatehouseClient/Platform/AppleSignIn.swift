#if canImport(AuthenticationServices) && !os(watchOS)
    public import AuthenticationServices

    /// Signs in with Apple: shows Apple's sheet, and sends the identity token and its nonce to the server.
    ///
    /// When the app starts and while it runs, the library checks whether the person has revoked the sign-in at Apple.
    /// If so, it signs out.
    @MainActor
    public struct AppleSignIn {
        private let client: GatehouseClient
        private let scopes: [ASAuthorization.Scope]
        private let provider: String?

        /// Creates a sign-in with Apple for a client.
        /// - Parameters:
        ///   - client: The client that gets the session.
        ///   - scopes: The data that the app requests from Apple.
        ///   - provider: The provider's name, if several providers of this kind are configured.
        public init(
            _ client: GatehouseClient, scopes: [ASAuthorization.Scope] = [.fullName, .email], provider: String? = nil
        ) {
            self.client = client
            self.scopes = scopes
            self.provider = provider
        }

        /// Shows the sheet, and signs in.
        /// - Parameters:
        ///   - anchor: The window above which the sheet appears.
        ///   - remember: `false` keeps the session in memory only, and requests a short one from the server.
        /// - Returns: The new session.
        /// - Throws: `refused` with `access_denied` if the person closes the sheet, or an error of `signIn`.
        @discardableResult
        public func signIn(
            over anchor: ASPresentationAnchor, remember: Bool = true
        ) async throws(GatehouseError) -> GatehouseClient.SignedIn {
            let proof = try await client.askApple(over: anchor, scopes: scopes, provider: provider)
            return try await client.signIn(proof, remember: remember)
        }
    }
#endif
