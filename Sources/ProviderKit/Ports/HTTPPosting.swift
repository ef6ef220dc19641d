/// Posts messages and events to a service that the configuration names.
///
/// As with `HTTPFetching`, private addresses are refused unless the configuration allows them.
package protocol HTTPPosting: Sendable {
    /// Returns the status of the answer.
    ///
    /// A redirect is an answer: it is not followed. What comes after the status line does not matter.
    /// - Throws: `Obstacle` where there is no answer; `CancellationError`.
    func post(_ request: FetchRequest, within deadline: Duration) async throws -> Int
}

/// Why the next hop of a message did not answer.
package enum Obstacle: String, Error, Sendable {
    /// The host's name doesn't resolve.
    case name
    case connection
    case timeout
    /// No TLS where it is required, or a certificate that doesn't hold.
    case tls
    case disconnected
    /// The address is private or the URL is plain HTTP, and `network.allowPrivateHosts` is off.
    case forbidden
}
