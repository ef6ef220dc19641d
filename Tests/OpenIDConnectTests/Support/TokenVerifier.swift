import Foundation
import ProviderKit
import Tokens

/// The verifier that these tests run with: the server's own.
func tokenVerifier(http: any HTTPFetching, now: @escaping @Sendable () -> Date) -> any TokenVerifying {
    UpstreamTokenVerifier(http: http, now: now)
}
