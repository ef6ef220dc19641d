#if canImport(AuthenticationServices) && !os(watchOS)
    public import AuthenticationServices
    internal import Foundation

    extension GatehouseClient.Proof {
        /// Creates the proof from the credential of `SignInWithAppleButton` or `ASAuthorizationController`.
        /// - Parameters:
        ///   - credential: The credential.
        ///   - nonce: The nonce whose hash was in the request.
        ///   - provider: The provider's name, if several providers of this kind are configured.
        /// - Returns: The proof; `nil` if the credential has no identity token.
        public static func apple(
            _ credential: ASAuthorizationAppleIDCredential, nonce: AppleNonce?, provider: String? = nil
        ) -> Self? {
            func text(_ data: Data?) -> String? { data.flatMap { String(data: $0, encoding: .utf8) } }
            guard let token = text(credential.identityToken) else { return nil }
            var proof = apple(
                identityToken: token, authorizationCode: text(credential.authorizationCode),
                givenName: credential.fullName?.givenName, familyName: credential.fullName?.familyName,
                email: credential.email, nonce: nonce?.raw, provider: provider)
            proof.appleUser = credential.user
            return proof
        }
    }

    extension GatehouseClient {
        /// Shows Apple's sheet, and waits until the person completes or closes it.
        /// - Parameters:
        ///   - anchor: The window above which the sheet appears.
        ///   - scopes: The data that the app requests from Apple.
        ///   - provider: The provider's name, if several providers of this kind are configured.
        /// - Returns: The proof for `signIn`, `link` or `reauthenticate`.
        /// - Throws: `refused` with `access_denied` if the person closes the sheet, or `unexpectedAnswer`.
        @MainActor
        public func askApple(
            over anchor: ASPresentationAnchor, scopes: [ASAuthorization.Scope] = [.fullName, .email],
            provider: String? = nil
        ) async throws(GatehouseError) -> Proof {
            let nonce = AppleNonce()
            let request = ASAuthorizationAppleIDProvider().createRequest()
            request.requestedScopes = scopes
            request.nonce = nonce.hashed
            let sheet = AppleSheet(anchor: anchor)
            let credential: ASAuthorizationAppleIDCredential?
            do {
                credential = try await sheet.show(request)
            } catch let error as ASAuthorizationError where error.code == .canceled {
                throw .refused(.init(code: .accessDenied, message: "The person closed the sheet"))
            } catch {
                throw .unexpectedAnswer(status: 0)
            }
            guard let proof = credential.flatMap({ Proof.apple($0, nonce: nonce, provider: provider) }) else {
                throw .unexpectedAnswer(status: 0)
            }
            return proof
        }
    }

    /// One presentation of Apple's sheet.
    @MainActor
    private final class AppleSheet: NSObject, ASAuthorizationControllerDelegate,
        ASAuthorizationControllerPresentationContextProviding
    {
        private let anchor: ASPresentationAnchor
        private var waiting: CheckedContinuation<ASAuthorizationAppleIDCredential?, any Error>?
        private var controller: ASAuthorizationController?

        init(anchor: ASPresentationAnchor) { self.anchor = anchor }

        func show(_ request: ASAuthorizationRequest) async throws -> ASAuthorizationAppleIDCredential? {
            defer { controller = nil }
            return try await withCheckedThrowingContinuation { continuation in
                waiting = continuation
                let controller = ASAuthorizationController(authorizationRequests: [request])
                controller.delegate = self
                controller.presentationContextProvider = self
                self.controller = controller
                controller.performRequests()
            }
        }

        func presentationAnchor(for controller: ASAuthorizationController) -> ASPresentationAnchor { anchor }

        func authorizationController(
            controller: ASAuthorizationController, didCompleteWithAuthorization authorization: ASAuthorization
        ) {
            waiting?.resume(returning: authorization.credential as? ASAuthorizationAppleIDCredential)
            waiting = nil
        }

        func authorizationController(controller: ASAuthorizationController, didCompleteWithError error: any Error) {
            waiting?.resume(throwing: error)
            waiting = nil
        }
    }
#endif
