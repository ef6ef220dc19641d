#if canImport(AuthenticationServices)
    internal import AuthenticationServices
    internal import Foundation

    extension AppleAccounts {
        /// What this device knows.
        static let device = AppleAccounts(
            isRevoked: { user in
                await withCheckedContinuation { continuation in
                    ASAuthorizationAppleIDProvider().getCredentialState(forUserID: user) { state, error in
                        // An error says nothing, for example without a network.
                        let isGone = state == .revoked || state == .notFound
                        continuation.resume(returning: error == nil && isGone)
                    }
                }
            },
            revocations: {
                let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
                // Uses an unstructured task, because the stream outlives this call; its end cancels the task.
                let watch = Task {
                    let name = ASAuthorizationAppleIDProvider.credentialRevokedNotification
                    for await _ in NotificationCenter.default.notifications(named: name).map({ _ in }) {
                        continuation.yield()
                    }
                }
                continuation.onTermination = { _ in watch.cancel() }
                return stream
            })
    }
#endif

extension AppleAccounts {
    /// What this device knows; `nil` where there is no Sign in with Apple.
    static var ofPlatform: AppleAccounts? {
        #if canImport(AuthenticationServices)
            device
        #else
            nil
        #endif
    }
}
