/// The domain: accounts, the identities that open them, and the rules for linking the two.
///
/// A provider turns a credential into evidence (`VerifiedIdentity`). `SignIn` reads the stored facts that concern the
/// evidence (`LinkingState`), passes them to the pure function `decide(_:state:policy:)`, and writes the verdict with
/// conditional statements. If the rows changed in between, nothing is written and `SignIn` starts over. `SessionTokens`
/// then makes the tokens. This module uses no HTTP, SQL, C or cryptography library; other modules implement its ports
/// (`AccountsStore`, `AccessTokens`, `PasswordHashing`, `OpaqueTokens`, `Revocations`).
///
/// The statement that opens a session locks the rows on which it checks that the session is permitted. A use case that
/// withdraws the permission (deletion, password reset, password change) locks the account first and ends its sessions
/// in a later statement. A race therefore never leaves a session open that is no longer permitted.
