#if canImport(AuthenticationServices) && !os(watchOS) && !os(tvOS)
    public import AuthenticationServices
    internal import Foundation

    extension GatehouseClient {
        /// Opens a provider's page in the system's browser window, and waits until the browser returns to the app.
        /// - Parameters:
        ///   - provider: The provider's name, or `hosted` for the application's own pages.
        ///   - redirectURI: One of the application's redirect URIs, with the app's own scheme or an associated domain.
        ///   - purpose: The purpose of the proof.
        ///   - parameters: Parameters for the provider's page; see `beginRedirect`.
        ///   - remember: `false` keeps the session of a sign-in in memory only, and requests a short one.
        ///   - anchor: The window above which the page appears.
        ///   - isEphemeral: Whether the page opens without the browser's cookies.
        /// - Returns: The proof for `signIn`, `link` or `reauthenticate`.
        /// - Throws: `refused` with `access_denied` if the person closes the page, or another failure.
        @MainActor
        public func visit(
            _ provider: String, redirectURI: String, for purpose: Purpose = .signIn, parameters: [String: String] = [:],
            remember: Bool = true, over anchor: ASPresentationAnchor, isEphemeral: Bool = false
        ) async throws(GatehouseError) -> Proof {
            let flow = try await beginRedirect(
                to: provider, redirectURI: redirectURI, for: purpose, parameters: parameters, remember: remember)
            let visit = WebVisit(anchor: anchor)
            let url: URL
            do {
                url = try await visit.open(flow.url, until: redirectURI, isEphemeral: isEphemeral)
            } catch let error as ASWebAuthenticationSessionError where error.code == .canceledLogin {
                throw .refused(.init(code: .accessDenied, message: "The person closed the page"))
            } catch {
                throw GatehouseError(ofTransport: error)
            }
            return try flow.proof(from: url)
        }
    }

    /// One browser window.
    @MainActor
    private final class WebVisit: NSObject, ASWebAuthenticationPresentationContextProviding {
        private let anchor: ASPresentationAnchor
        private var session: ASWebAuthenticationSession?

        init(anchor: ASPresentationAnchor) { self.anchor = anchor }

        func presentationAnchor(for session: ASWebAuthenticationSession) -> ASPresentationAnchor { anchor }

        func open(_ page: URL, until redirectURI: String, isEphemeral: Bool) async throws -> URL {
            defer { session = nil }
            return try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    let waiting = Locked<CheckedContinuation<URL, any Error>?>(continuation)
                    // The handler may run on any thread.
                    let done: @Sendable (URL?, (any Error)?) -> Void = { url, error in
                        let waiting = waiting.withLock { waiting in
                            defer { waiting = nil }
                            return waiting
                        }
                        if let url {
                            waiting?.resume(returning: url)
                        } else {
                            waiting?.resume(throwing: error ?? CancellationError())
                        }
                    }
                    let session = Self.session(for: page, until: redirectURI, done)
                    session.presentationContextProvider = self
                    session.prefersEphemeralWebBrowserSession = isEphemeral
                    self.session = session
                    if Task.isCancelled || !session.start() { done(nil, nil) }
                }
            } onCancel: {
                // A cancellation handler is synchronous, and the session belongs to the main actor.
                Task { @MainActor in self.session?.cancel() }
            }
        }

        private static func session(
            for page: URL, until redirectURI: String, _ done: @escaping @Sendable (URL?, (any Error)?) -> Void
        ) -> ASWebAuthenticationSession {
            let redirect = URL(string: redirectURI)
            let (scheme, host, path) = (redirect?.scheme, redirect?.host() ?? "", redirect?.path() ?? "/")
            if scheme == "https", #available(iOS 17.4, macOS 14.4, visionOS 1.1, *) {
                return ASWebAuthenticationSession(
                    url: page, callback: .https(host: host, path: path), completionHandler: done)
            }
            return ASWebAuthenticationSession(url: page, callbackURLScheme: scheme, completionHandler: done)
        }
    }
#endif
