package import Foundation

/// The state and the counters of one provider's upstreams.
package struct UpstreamStatistics: Sendable, Equatable {
    package let application: String
    package let provider: String
    /// Whether all circuit breakers are closed and the last exchange, if any, got a response.
    package let isUp: Bool
    package let lastSuccess: Date?
    package let successes: Int
    /// The number of failed requests, including those with a status of 500 or above and those refused before they were
    /// sent.
    package let failures: Int
}
