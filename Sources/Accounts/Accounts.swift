/// The domain: accounts, the identities that open them, and the rules between the two.
///
/// A provider turns a credential into evidence (`VerifiedIdentity`). `SignIn` loads what the database knows about that
/// evidence (`LinkingState`), asks the pure function `decide(_:state:policy:)` what it means, and has the verdict
/// written by one conditional statement; where the rows moved on in between, nothing is written and it decides again.
/// `SessionTokens` then makes the tokens. Nothing here knows HTTP, SQL, C or a cryptography library: those implement
/// the ports (`AccountsStore`, `AccessTokens`, `PasswordHashing`, `OpaqueTokens`, `Revocations`).
///
/// Who may open a session is always judged on rows that the writing statement locks itself, and whoever takes a
/// permission away (deletion, a reset, a new password) locks the account first and ends sessions in a later statement:
/// so neither can miss the other.
