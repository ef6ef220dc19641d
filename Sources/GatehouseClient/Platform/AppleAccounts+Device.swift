#if canImport(AuthenticationServices)
    internal import AuthenticationServices
    internal import Foundation

    extension AppleAccounts {
        /// The state of Apple accounts on this device.
        static let device = AppleAccounts(
            isRevoked: { user in
                await withCheckedContinuation { continuation in
                    ASAuthorizationAppleIDProvider().getCredentialState(forUserID: user) { state, error in
                        // An error, for example without a network, does not mean that the sign-in was revoked.
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
    /// The state of Apple accounts on this device; `nil` on systems without Sign in with Apple.
    static var ofPlatform: AppleAccounts? {
        #if canImport(AuthenticationServices)
            device
        #else
            nil
        #endif
    }
}
