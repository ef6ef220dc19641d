public import ProviderKit

internal import Foundation

/// A guest account for whoever asks: no proof, no address, until the person links something that can be proven.
public struct AnonymousProvider: DirectProvider {
    /// There is nothing to set.
    public struct Settings: ProviderSettings {
        /// No fields.
        public static let schema = SettingsSchema([])
    }

    /// `anonymous`.
    public static let kind = "anonymous"
    /// What a button says.
    public static let displayName = "Continue as guest"

    /// Always works.
    public init(settings: Settings, context: ProviderContext) {}

    /// A new subject each time.
    public func verify(_ credential: NoCredential, from origin: RequestOrigin) -> VerifiedIdentity {
        VerifiedIdentity(providerUid: UUID().uuidString.lowercased(), isGuest: true)
    }
}
