#if canImport(AuthenticationServices) && !os(watchOS)
    public import AuthenticationServices

    /// Signs in with Apple: shows Apple's sheet, and presents the identity token with its nonce to the server.
    ///
    /// When the app starts, and while it runs, the library asks Apple whether the person has revoked the sign-in, and
    /// signs out then.
    @MainActor
    public struct AppleSignIn {
        private let client: GatehouseClient
        private let scopes: [ASAuthorization.Scope]
        private let provider: String?

        /// Creates a way to sign in.
        /// - Parameters:
        ///   - client: The client that is signed in.
        ///   - scopes: What the app asks for.
        ///   - provider: The provider's name, if several of the kind are configured.
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
        ///   - remember: `false` keeps the session in memory only, and asks the server for a short one.
        /// - Returns: Who is signed in now.
        /// - Throws: `refused` with `access_denied` if the person closes the sheet, or as `signIn` of the client.
        @discardableResult
        public func signIn(
            over anchor: ASPresentationAnchor, remember: Bool = true
        ) async throws(GatehouseError) -> GatehouseClient.SignedIn {
            let proof = try await client.askApple(over: anchor, scopes: scopes, provider: provider)
            return try await client.signIn(proof, remember: remember)
        }
    }
#endif
