import Accounts
import Passwords
import Testing

@Suite struct StrengthPolicyTests {
    private static let strong = "kX7!pQ2@vR9#"
    private static func long(_ length: Int) -> String {
        String(String(repeating: "\(strong)wZ4&", count: 17).prefix(length))
    }

    private func weaknesses(of password: String, words: [String] = []) async throws -> [PasswordWeakness] {
        try await StrengthPolicy().weaknesses(of: password, personalWords: words)
    }

    @Test(
        arguments: [
            ("", [.tooShort, .tooGuessable]), ("kX7!pQ2", [.tooShort]), ("kX7!pQ2@", []), (long(256), []),
            (long(257), [.tooLong]),
            // Code points count, not bytes nor what looks like one character: the family has five, the flag two.
            ("😀🎸🚲🌋🧊🦔🍋", [.tooShort]), ("😀🎸🚲🌋🧊🦔🍋🛶", []), ("kX7!p👨‍👩‍👧", []), ("kX7!pQ\u{1F1F5}\u{1F1F9}", []),
            // After composition: seven letters typed as fourteen code points are seven, one more mark is eight.
            ("e\u{301}a\u{300}o\u{302}u\u{308}i\u{308}n\u{303}c\u{327}", [.tooShort]),
            ("kX7!pq\u{323}\u{30C}\u{332}", []),
            (String(repeating: "e\u{301}", count: 257), [.tooLong, .tooGuessable]),
            (String(repeating: "e\u{301}", count: 600), [.tooLong, .tooGuessable]),
        ] as [(String, [PasswordWeakness])])
    func `counts code points of the normalised form`(password: String, expected: [PasswordWeakness]) async throws {
        #expect(try await weaknesses(of: password) == expected)
    }

    @Test(arguments: [
        "password1", "12345678", "qwertyui", "abcdefgh", "P@ssw0rd", "letmein1", "drowssap1", "aaaaaaaa",
        String(repeating: "a", count: 256), String(repeating: "1", count: 256), "password\0\0\0\0",
        String(repeating: "é", count: 256), String(repeating: "Я", count: 30),
        // These have few different characters, but zxcvbn takes them for random text.
        "xqzkqxkzqkzxkqxz", "0110100110010110",
        // The reference implementation of zxcvbn gives these a score of 1.
        "my-password", "secret123", "Password123!", "MyPassword123", "welcome43", "princesså88",
        // Debian's dictionary lacks these.
        "qweasdzxc", "147258369!", "Fktrcfylh", "1qaz2wsx3edc",
    ])
    func `refuses passwords that are easily guessed`(password: String) async throws {
        #expect(try await weaknesses(of: password) == [.tooGuessable])
    }

    @Test(arguments: [
        "xqzkqxkzqkzxkqxzw", "correct horse", "kX7!pQ2@", "\0kX7!pQ2@", "Пять яблок", "tuna-lamp-42-river",
        // The reference implementation gives these a score of at least 2, although the C library's own total is low.
        "securePassword123", "newSecurePassword123", "TestPassword123!", "another password", "Wrong password",
    ])
    func `accepts passwords that are not easily guessed`(password: String) async throws {
        #expect(try await weaknesses(of: password) == [])
    }

    @Test(arguments: [
        "Jörg Zwiebelfisch", "zwiebelfisch", "ZWIEBELFISCH", "Zw1ebelfisch!", "hcsiflebeiwz", "zwiebelfisch1987",
        "jz.onion@kelpforest.example", "jz.onion", "kelpforest", "Kelpforest1", "ОЛЕКСАНДРА", "олександра",
        "Олександра1", "ANNIKA_ÅBERG", "Zwiebelfisch123!", "jz.onion2024",
    ])
    func `refuses the person's own name and address`(password: String) async throws {
        let words = ["Jörg Zwiebelfisch", "jz.onion@kelpforest.example", "Олександра", "Annika Åberg"]
        #expect(try await weaknesses(of: password, words: words).contains(.tooGuessable))
    }

    @Test(arguments: ["securePassword123", "Zwiebelfisch-tuna-42", "Annika xqzkqxk"])
    func `accepts passwords with enough besides the person's own words`(password: String) async throws {
        let words = ["Jörg Zwiebelfisch", "user@example.com", "Annika Åberg"]
        #expect(try await weaknesses(of: password, words: words) == [])
    }

    @Test(arguments: ["zwiebelfisch", "kelpforest"])
    func `accepts the same words from other people`(password: String) async throws {
        #expect(try await weaknesses(of: password) == [])
    }

    @Test func `accepts personal words of any kind`() async throws {
        let words = ["", "@", "a\0b", String(repeating: "kX7!pQ2@ ", count: 10_000), "\u{301}"]
        #expect(try await weaknesses(of: Self.strong, words: words) == [])
    }

    @Test(arguments: [Int.min, 0, 7, 129])
    func `has a minimum between 8 and 128`(minimum: Int) {
        #expect(throws: PasswordsError.self) { try StrengthPolicy(minimumLength: minimum) }
    }

    @Test func `the minimum is configurable`() async throws {
        let policy = try StrengthPolicy(minimumLength: 12)
        #expect(await policy.weaknesses(of: "kX7!pQ2@vR9", personalWords: []) == [.tooShort])
        #expect(await policy.weaknesses(of: "kX7!pQ2@vR9#", personalWords: []) == [])
    }
}
