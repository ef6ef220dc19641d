import CArgon2
import Foundation
import Passwords
import Synchronization

extension Contender {
    /// libargon2 without `Passwords`, called by as many threads as the server hashes on.
    static func rawArgon2(_ parameters: Argon2Parameters, seconds: Double) -> Contender {
        .rawLoop("libargon2, memory reused", threads: Stage.hashingThreads, seconds: seconds) {
            { try RawArgon2.hash(parameters) }
        }
    }
}

/// Calls Argon2id in the library directly, without `Passwords`.
///
/// The limit must not depend on the code that is measured against it.
/// As in `Passwords`, memory is reused in huge pages that stay mapped.
private enum RawArgon2 {
    /// The addresses of idle regions.
    ///
    /// They are global, because the library's callbacks have no context parameter.
    private static let idle = Mutex<[UInt]>([])
    private static let hugePage = 2 << 20

    static func hash(_ parameters: Argon2Parameters) throws {
        var password = Array("correct horse battery staple".utf8)
        var salt = [UInt8](repeating: 7, count: 16)
        var tag = [UInt8](repeating: 0, count: 32)
        let code = password.withUnsafeMutableBufferPointer { password in
            salt.withUnsafeMutableBufferPointer { salt in
                tag.withUnsafeMutableBufferPointer { tag in
                    var context = argon2_context()
                    context.version = ARGON2_VERSION_13.rawValue
                    context.m_cost = parameters.memoryKiB
                    context.t_cost = parameters.iterations
                    context.lanes = parameters.parallelism
                    context.threads = 1
                    (context.pwd, context.pwdlen) = (password.baseAddress, UInt32(password.count))
                    (context.salt, context.saltlen) = (salt.baseAddress, UInt32(salt.count))
                    (context.out, context.outlen) = (tag.baseAddress, UInt32(tag.count))
                    context.allocate_cbk = { memory, size in
                        memory?.pointee = RawArgon2.take(size)?.assumingMemoryBound(to: UInt8.self)
                        return 0
                    }
                    context.free_cbk = { memory, _ in
                        RawArgon2.idle.withLock { $0.append(UInt(bitPattern: memory)) }
                    }
                    return argon2_ctx(&context, Argon2_id)
                }
            }
        }
        guard code == ARGON2_OK.rawValue else { throw BenchError("libargon2 failed with \(code)") }
    }

    /// Returns an idle region or maps a new one.
    ///
    /// All regions have the same size.
    private static func take(_ size: Int) -> UnsafeMutableRawPointer? {
        if let address = idle.withLock({ $0.popLast() }) { return UnsafeMutableRawPointer(bitPattern: address) }
        let length = (size + hugePage - 1) / hugePage * hugePage
        let flags = MAP_PRIVATE | MAP_ANONYMOUS
        guard let base = mmap(nil, length + hugePage, PROT_READ | PROT_WRITE, flags, -1, 0), base != MAP_FAILED else {
            return nil
        }
        let aligned = (UInt(bitPattern: base) + UInt(hugePage) - 1) / UInt(hugePage) * UInt(hugePage)
        let memory = UnsafeMutableRawPointer(bitPattern: aligned)
        madvise(memory, length, MADV_HUGEPAGE)
        return memory
    }
}
