public import Foundation

/// Asks the service behind a provider on behalf of an administrator.
///
/// The destinations of `HTTPFetching` are allowed, within shorter limits. Calls have no effect on the circuit breaker.
public protocol ServiceProbing: Sendable {
    /// Returns the response, whatever its status.
    /// - Throws: why there is no response.
    func fetch(_ request: FetchRequest) async throws(ProviderFinding) -> FetchResponse

    /// Resolves the host of a URL, and checks that the server may call it.
    /// - Throws: why it may not.
    func resolve(_ url: String) async throws(ProviderFinding)
}

/// What the checks of a provider may use.
public struct DiagnosticTools: Sendable {
    /// Calls the service.
    public let service: any ServiceProbing
    /// The URL to which the service redirects browsers.
    public let callbackURL: String
    /// The wall clock.
    public let now: @Sendable () -> Date
    /// Connects to the server's mail relay and signs in to it, without sending a mail.
    package let mailRelay: @Sendable () async -> MailRelayState

    /// Creates the tools; only the server and tests of a provider need to call this.
    public init(service: any ServiceProbing, callbackURL: String, now: @escaping @Sendable () -> Date) {
        self.init(service: service, callbackURL: callbackURL, now: now) { .notConfigured }
    }

    package init(
        service: any ServiceProbing, callbackURL: String, now: @escaping @Sendable () -> Date,
        mailRelay: @escaping @Sendable () async -> MailRelayState
    ) {
        (self.service, self.callbackURL, self.now, self.mailRelay) = (service, callbackURL, now, mailRelay)
    }
}

/// What the server's mail relay says.
package enum MailRelayState: Sendable, Equatable {
    case notConfigured
    /// Mails are kept instead of sent, as in development.
    case keptHere
    case ready(hasLogin: Bool)
    case loginRefused
    /// The relay takes mails without the login of the settings.
    case loginNotOffered
    case failed(ProviderFinding)
}
