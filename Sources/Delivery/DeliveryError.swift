package import ProviderKit

/// Why something was not delivered, or cannot be.
///
/// Never holds an address, a reply's text or a secret.
package enum DeliveryError: Error, Sendable, Equatable {
    /// - `field` is named as in the configuration, as in `delivery.email.smtp`; `reason` never repeats the value.
    case invalidSetting(field: String, reason: String)
    /// The relay refuses this message for good: 5yz to its sender, recipient or content (RFC 5321, 4.2.1).
    case refused(code: Int)
    /// The relay will not take it now: 4yz, or any refusal that is not about this message, such as that of the login.
    case deferred(code: Int)
    /// The gateway refuses this message for good: any 4xx but 408 and 429.
    case gatewayRefused(status: Int)
    /// The gateway will not take it now, or answers what it should not.
    case gatewayDeferred(status: Int)
    /// Nobody knows whether the message arrived when this happens after its last byte.
    case unreachable(Obstacle)
    /// No transport is configured.
    case notConfigured
    /// No provider of that name is configured that can revoke tokens.
    case unknownProvider
    /// The upstream service did not confirm that it revoked the tokens.
    case notRevoked
    /// What the queue holds as recipient is not one plain address.
    case malformedAddress
    /// The code or the link in the message no longer works.
    case expired
    /// As many text messages as are paid for have left.
    case overBudget
    case unusableTemplate(language: String, name: String)

    /// Trying again cannot help.
    package var isPermanent: Bool {
        switch self {
        case .refused, .gatewayRefused, .malformedAddress, .expired, .overBudget, .unusableTemplate, .invalidSetting:
            true
        case .deferred, .gatewayDeferred, .unreachable, .notConfigured, .unknownProvider, .notRevoked: false
        }
    }

    /// A stable word for logs and the outbox, such as `smtp-550` or `unreachable-timeout`.
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
