public import Foundation

/// A provider that tells the server of changes on its side, at `POST /auth/{kind}/notifications`.
public protocol NotifyingProvider: Provider {
    /// Checks the signed event.
    /// - Returns: `nil` for a kind of event that means nothing here.
    /// - Throws: `ProviderError`.
    func event(in payload: String) async throws -> ProviderEvent?
}

/// A change on the provider's side, about one identity.
public struct ProviderEvent: Sendable, Equatable {
    /// What happened.
    public enum Change: Sendable, Equatable {
        /// The person no longer lets the app use the identity.
        case consentRevoked
        /// The person's account there is gone.
        case accountDeleted
        /// Mail to the address is, or is no longer, passed on to the person.
        case forwarding(EmailAddress, isOn: Bool)
    }

    /// What happened.
    public let change: Change
    /// Whose identity it is about.
    public let providerUid: String
    /// When it happened there; an event about an identity made since means nothing.
    public let occurredAt: Date
    /// Each event acts once.
    public let singleUse: SingleUse

    /// An event whose signature is right.
    public init(change: Change, providerUid: String, occurredAt: Date, singleUse: SingleUse) {
        self.change = change
        self.providerUid = providerUid
        self.occurredAt = occurredAt
        self.singleUse = singleUse
    }
}
