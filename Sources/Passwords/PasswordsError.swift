package enum PasswordsError: Error, Sendable, Equatable {
    /// A setting is invalid; `field` is its name in the configuration, such as `argon2.memoryKiB`.
    case invalidSetting(field: String, reason: String)
    /// The stored hash is not a PHC string of argon2id, or exceeds the limits of `Argon2Parameters`.
    case unreadableHash
    case outOfMemory
    /// libargon2 failed; `code` is one of its `Argon2_ErrorCodes`.
    case hashingFailed(code: Int32)
}
