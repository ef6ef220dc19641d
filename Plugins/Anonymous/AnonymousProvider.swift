public import ProviderKit

internal import Foundation

/// Sign-in as a guest without proof or address; the guest can later link another identity to the account.
public struct AnonymousProvider: DirectProvider {
    /// No settings.
    public struct Settings: ProviderSettings {
        /// No fields.
        public static let schema = SettingsSchema([])
    }

    /// `anonymous`.
    public static let kind = "anonymous"
    /// The label of the sign-in button.
    public static let displayName = "Continue as guest"

    /// Creates the provider.
    public init(settings: Settings, context: ProviderContext) {}

    /// Returns a new guest each time.
    public func verify(_ credential: NoCredential, from origin: RequestOrigin) -> VerifiedIdentity {
        VerifiedIdentity(providerUid: UUID().uuidString.lowercased(), isGuest: true)
    }
}
