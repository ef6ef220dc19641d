package import ProviderKit

/// What of the application's configuration, and of the call, bears on the decision.
package struct LinkingPolicy: Sendable, Equatable {
    package var mode: ProviderMode
    package var automatic: ApplicationPolicy.AutomaticLinking
    /// The provider proves nothing but an address of the person's: by a code or a token that was sent there.
    package var provesAddress: Bool
    /// What a guest wants where the identity has an account.
    package var onConflict: ConflictChoice

    package init(
        mode: ProviderMode, automatic: ApplicationPolicy.AutomaticLinking, provesAddress: Bool = false,
        onConflict: ConflictChoice = .keep
    ) {
        self.mode = mode
        self.automatic = automatic
        self.provesAddress = provesAddress
        self.onConflict = onConflict
    }

    init(
        _ provider: ConfiguredProvider, in application: Application, onConflict: ConflictChoice = .keep
    ) {
        self.init(
            mode: provider.mode, automatic: application.policy.automaticLinking, provesAddress: provider.provesAddress,
            onConflict: onConflict)
    }
}

/// What a guest wants where the identity that it links has an account.
package enum ConflictChoice: String, Sendable, SentChoice {
    /// To be told, and stay a guest.
    case keep
    /// To go there, and leave what it had.
    case `switch`
    /// To go there, and take along what it had.
    case merge
}
