package import Foundation

/// How one provider's upstreams do.
package struct UpstreamStatistics: Sendable, Equatable {
    package let application: String
    package let provider: String
    /// No circuit breaker is open, and the last exchange was answered; also before the first.
    package let isUp: Bool
    package let lastSuccess: Date?
    package let successes: Int
    /// Also answers of 500 and above, and what was refused before it was sent.
    package let failures: Int

    package init(
        application: String, provider: String, isUp: Bool, lastSuccess: Date?, successes: Int, failures: Int
    ) {
        self.application = application
        self.provider = provider
        self.isUp = isUp
        self.lastSuccess = lastSuccess
        self.successes = successes
        self.failures = failures
    }
}
