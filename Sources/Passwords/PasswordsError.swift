/// Errors of the settings, of stored hashes and of libargon2.
package enum PasswordsError: Error, Sendable, Equatable {
    /// `field` is the name in the configuration, such as `argon2.memoryKiB`.
    case invalidSetting(field: String, reason: String)
    /// The stored hash is not a PHC string of argon2id, or exceeds the limits of `Argon2Parameters`.
    case unreadableHash
    case outOfMemory
    /// One of libargon2's `Argon2_ErrorCodes`.
    case hashingFailed(code: Int32)
}
