/// What the author of a provider imports, and nothing else.
///
/// A provider checks a proof and says whom it proves: it takes a credential from the outside, verifies it through the
/// narrow ports it was given (`ProviderPorts`), and returns a `VerifiedIdentity`. It never sees an account, a session or
/// SQL; whether the evidence signs somebody in, joins an account or is refused is decided elsewhere, by rules that know
/// no provider by name. A provider is a value made from its settings (`Provider`), says what those settings are
/// (`SettingsSchema`), and takes part in as many ways of signing in as it adopts capability protocols: `DirectProvider`,
/// `RedirectProvider`, `NativeTokenProvider`, `PasswordProvider`; `RevokingProvider` and `NotifyingProvider` follow an
/// identity after that.
///
/// Compare text that came from outside by `hasSameBytes(as:)`, never by `==`: the latter takes seconds for some texts.
