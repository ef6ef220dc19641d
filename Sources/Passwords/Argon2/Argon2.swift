import CArgon2

/// Argon2id version 1.3 (RFC 9106), computed by libargon2 in reused memory.
enum Argon2 {
    /// Computes the tag; all lanes (Argon2's units of parallelism) run on the calling thread.
    ///
    /// libargon2 wipes the memory before it returns it (`FLAG_clear_internal_memory`), so runs read no other's blocks.
    /// - Throws: `PasswordsError.outOfMemory` or `.hashingFailed`.
    static func tag(of secret: PasswordSecret, under setup: PHCString.Setup) throws -> [UInt8] {
        var salt = setup.salt
        var tag = [UInt8](repeating: 0, count: setup.tagLength)
        let code = secret.withUnsafeBytes { password in
            salt.withUnsafeMutableBufferPointer { salt in
                tag.withUnsafeMutableBufferPointer { tag in
                    var context = context(for: setup.parameters)
                    // libargon2 writes to the password only if ARGON2_FLAG_CLEAR_PASSWORD is set, which it is not.
                    context.pwd = UnsafeMutablePointer(mutating: password.bindMemory(to: UInt8.self).baseAddress)
                    context.pwdlen = UInt32(clamping: password.count)
                    context.salt = salt.baseAddress
                    context.saltlen = UInt32(clamping: salt.count)
                    context.out = tag.baseAddress
                    context.outlen = UInt32(clamping: tag.count)
                    return argon2_ctx(&context, Argon2_id)
                }
            }
        }
        switch code {
        case ARGON2_OK.rawValue: return tag
        case ARGON2_MEMORY_ALLOCATION_ERROR.rawValue: throw PasswordsError.outOfMemory
        default: throw PasswordsError.hashingFailed(code: code)
        }
    }

    private static func context(for parameters: Argon2Parameters) -> argon2_context {
        var context = argon2_context()
        context.version = ARGON2_VERSION_13.rawValue
        context.m_cost = parameters.memoryKiB
        context.t_cost = parameters.iterations
        context.lanes = parameters.parallelism
        context.threads = 1
        // libargon2 ignores the result of this callback and checks for a null pointer.
        context.allocate_cbk = { memory, size in
            memory?.pointee = MemoryRegions.shared.take(size)?.assumingMemoryBound(to: UInt8.self)
            return 0
        }
        context.free_cbk = { memory, size in
            guard let memory else { return }
            MemoryRegions.shared.giveBack(memory, size: size)
        }
        return context
    }
}
