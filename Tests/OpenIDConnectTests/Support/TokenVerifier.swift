import Foundation
import ProviderKit
import Tokens

/// Returns the server's own verifier.
func tokenVerifier(http: any HTTPFetching, now: @escaping @Sendable () -> Date) -> any TokenVerifying {
    UpstreamTokenVerifier(http: http, now: now)
}
