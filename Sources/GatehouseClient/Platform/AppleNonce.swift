/// The nonce of one Sign in with Apple: Apple receives its SHA-256, the server receives the raw value.
public struct AppleNonce: Sendable, CustomStringConvertible, CustomReflectable {
    /// The raw value, for `Proof.apple`.
    public let raw: String

    /// Creates a random nonce.
    public init() { raw = CodeVerifier.random() }

    /// The value for `ASAuthorizationAppleIDRequest.nonce`.
    public var hashed: String { SHA256.hex(of: raw) }
    /// A constant that does not contain the value.
    public var description: String { "a nonce" }
    /// A mirror without the value.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
