package enum SystemRandom {
    @Sendable package static func bytes(_ count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        // Eight bytes are requested at once, since each call of the generator is a system call.
        let words = (0..<(count + 7) / 8).map { _ in generator.next() as UInt64 }
        return words.withUnsafeBytes { Array($0.prefix(count)) }
    }
}
