/// Posts messages and events to a configured service.
///
/// Private addresses are refused unless the configuration allows them, as with `HTTPFetching`.
package protocol HTTPPosting: Sendable {
    /// Sends the request and returns the status of the response; redirects are not followed.
    /// - Throws: `Obstacle` if there is no response; `CancellationError`.
    func post(_ request: FetchRequest, within deadline: Duration) async throws -> Int
}

/// Why a service did not respond.
package enum Obstacle: String, Error, Sendable {
    /// The host name does not resolve.
    case name
    case connection, timeout
    /// TLS is required and missing, or the certificate is not valid.
    case tls
    case disconnected
    /// The address is private or the URL is plain HTTP, and `network.allowPrivateHosts` is off.
    case forbidden
}
