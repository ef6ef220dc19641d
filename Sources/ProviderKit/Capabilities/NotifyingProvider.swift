public import Foundation

/// A provider that notifies the server of changes on its side, at `POST /auth/{kind}/notifications`.
public protocol NotifyingProvider: Provider {
    /// Verifies a signed event.
    /// - Returns: `nil` for an event of a kind that the server does not handle.
    /// - Throws: `ProviderError`.
    func event(in payload: String) async throws -> ProviderEvent?
}

/// A change on the provider's side, about one identity.
public struct ProviderEvent: Sendable, Equatable {
    /// The kind of change.
    public enum Change: Sendable, Equatable {
        /// The person withdrew the app's permission to use the identity.
        case consentRevoked
        /// The person's account at the provider was deleted.
        case accountDeleted
        /// The provider started or stopped forwarding mail for the address to the person.
        case forwarding(EmailAddress, isOn: Bool)
    }

    /// The kind of change.
    public let change: Change
    /// The identity that the event is about.
    public let providerUid: String
    /// The time of the change; the server ignores events that are older than the identity.
    public let occurredAt: Date
    /// Prevents the event from being processed twice.
    public let singleUse: SingleUse

    /// Creates an event whose signature was verified.
    public init(change: Change, providerUid: String, occurredAt: Date, singleUse: SingleUse) {
        (self.change, self.providerUid, self.occurredAt) = (change, providerUid, occurredAt)
        self.singleUse = singleUse
    }
}
