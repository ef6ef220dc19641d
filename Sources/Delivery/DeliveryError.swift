package import ProviderKit

/// The reason why something was not delivered, or cannot be delivered.
///
/// It never contains an address, the text of a reply or a secret.
package enum DeliveryError: Error, Sendable, Equatable {
    /// `field` is the key of the configuration, such as `delivery.email.smtp`; `reason` never repeats the value.
    case invalidSetting(field: String, reason: String)
    /// The relay refused this message permanently: 5yz to its sender, recipient or content (RFC 5321, 4.2.1).
    case refused(code: Int)
    /// The relay refused temporarily: 4yz, or any refusal that is not about this message, such as a failed login.
    case deferred(code: Int)
    /// The gateway refused this message permanently: any 4xx except 408 and 429.
    case gatewayRefused(status: Int)
    /// The gateway refused temporarily, or responded with an unexpected status.
    case gatewayDeferred(status: Int)
    /// The connection failed; if all bytes of the message were sent, it may have arrived.
    case unreachable(Obstacle)
    /// No transport is configured.
    case notConfigured
    /// No provider of that name is configured that can revoke tokens.
    case unknownProvider
    /// The upstream service did not confirm that it revoked the tokens.
    case notRevoked
    /// The recipient in the queue is not a plain address.
    case malformedAddress
    /// The code or the link in the message no longer works.
    case expired
    /// The budget for text messages is used up.
    case overBudget
    case unusableTemplate(language: String, name: String)

    /// Whether every retry would fail too.
    package var isPermanent: Bool {
        switch self {
        case .refused, .gatewayRefused, .malformedAddress, .expired, .overBudget, .unusableTemplate, .invalidSetting:
            true
        case .deferred, .gatewayDeferred, .unreachable, .notConfigured, .unknownProvider, .notRevoked: false
        }
    }

    /// A stable code for logs and queue tables, such as `smtp-550` or `unreachable-timeout`.
    package var reason: String {
        switch self {
        case .invalidSetting: "invalid-setting"
        case .refused(let code), .deferred(let code): "smtp-\(code)"
        case .gatewayRefused(let status), .gatewayDeferred(let status): "http-\(status)"
        case .unreachable(let obstacle): "unreachable-\(obstacle.rawValue)"
        case .notConfigured, .unknownProvider: "not-configured"
        case .notRevoked: "unreachable"
        case .malformedAddress: "malformed-address"
        case .expired: "expired"
        case .overBudget: "over-budget"
        case .unusableTemplate: "unusable-template"
        }
    }
}
