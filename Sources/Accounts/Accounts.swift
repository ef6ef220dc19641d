/// The domain: accounts, the identities that open them, and the rules for linking the two.
///
/// A provider turns a credential into evidence (`VerifiedIdentity`). `SignIn` reads what the database has about the
/// evidence (`LinkingState`), asks the pure function `decide(_:state:policy:)` for a verdict, and writes the verdict with
/// conditional statements. If the rows changed in between, nothing is written and it starts over. `SessionTokens` then
/// makes the tokens. This module uses no HTTP, SQL, C or cryptography library; others implement its ports
/// (`AccountsStore`, `AccessTokens`, `PasswordHashing`, `OpaqueTokens`, `Revocations`).
///
/// The statement that opens a session checks permission on rows that it locks. A use case that withdraws permission
/// (deletion, password reset, password change) locks the account first and ends sessions in a later statement. So
/// neither can miss the other.
