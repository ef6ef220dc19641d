public import ProviderKit

internal import Foundation

/// Guest accounts: no proof and no address, until the person links another identity.
public struct AnonymousProvider: DirectProvider {
    /// No settings.
    public struct Settings: ProviderSettings {
        /// No fields.
        public static let schema = SettingsSchema([])
    }

    /// `anonymous`.
    public static let kind = "anonymous"
    /// The label of a button.
    public static let displayName = "Continue as guest"

    /// Creates the provider.
    public init(settings: Settings, context: ProviderContext) {}

    /// Returns a new guest each time.
    public func verify(_ credential: NoCredential, from origin: RequestOrigin) -> VerifiedIdentity {
        VerifiedIdentity(providerUid: UUID().uuidString.lowercased(), isGuest: true)
    }
}
