/// What can be wrong with the settings, the stored hashes or the function itself.
package enum PasswordsError: Error, Sendable, Equatable {
    /// - `field` is named as in the configuration, as in `argon2.memoryKiB`.
    case invalidSetting(field: String, reason: String)
    /// A stored hash that isn't a PHC string of argon2id, or asks for more work than this server does.
    case unreadableHash
    case outOfMemory
    /// One of libargon2's `Argon2_ErrorCodes`.
    case hashingFailed(code: Int32)
}
