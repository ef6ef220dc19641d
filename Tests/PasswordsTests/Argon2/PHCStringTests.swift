import Accounts
import Testing

@testable import Passwords

@Suite struct PHCStringTests {
    private static let salt = "AAECAwQFBgcICQoLDA0ODw"
    private static let tag = "CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"
    private static let good = "$argon2id$v=19$m=65536,t=2,p=4$\(salt)$\(tag)"
    private static let peppered = "$argon2id$v=19$m=65536,t=2,p=4,keyid=MjAyNg$\(salt)$\(tag)"

    @Test func `reads its fields`() throws {
        let hash = try PHCString(PasswordHash(phc: Self.peppered))
        #expect(hash.setup.parameters == .standard)
        #expect(hash.setup.pepperID?.name == "2026")
        #expect(hash.setup.salt == Array(0..<16))
        #expect(hash.setup.tagLength == 32)
        #expect(hash.tag.prefix(2) == [0x09, 0x31])
    }

    @Test(arguments: [good, peppered])
    func `writes what it read`(phc: String) throws {
        #expect(try PHCString(PasswordHash(phc: phc)).encoded.phc == phc)
    }

    @Test(arguments: [
        "", "$", "$$$$$", "argon2id", String(repeating: "$", count: 1 << 20), good + "$", " " + good, good + "\n",
        good + "\0", "$argon2i$v=19$m=65536,t=2,p=4$\(salt)$\(tag)", "$argon2id$v=16$m=65536,t=2,p=4$\(salt)$\(tag)",
        "$argon2id$m=65536,t=2,p=4$\(salt)$\(tag)", "$2b$12$R9h/cIPz0gi.URNNX3kh2OPST9/PgBkqquzi.Ss7KIUgO2t0jWMUW",
        // Costs: missing, out of order, in another spelling, or more than this server computes.
        "$argon2id$v=19$$\(salt)$\(tag)", "$argon2id$v=19$m=65536,t=2$\(salt)$\(tag)",
        "$argon2id$v=19$t=2,m=65536,p=4$\(salt)$\(tag)", "$argon2id$v=19$m=065536,t=2,p=4$\(salt)$\(tag)",
        "$argon2id$v=19$m=+65536,t=2,p=4$\(salt)$\(tag)", "$argon2id$v=19$m=-1,t=2,p=4$\(salt)$\(tag)",
        "$argon2id$v=19$m=,t=2,p=4$\(salt)$\(tag)", "$argon2id$v=19$m=65536,t=2,p=4,$\(salt)$\(tag)",
        "$argon2id$v=19$m=65536,t=2,p=4,data=AAAA$\(salt)$\(tag)",
        "$argon2id$v=19$m=4294967295,t=2,p=4$\(salt)$\(tag)", "$argon2id$v=19$m=4294967296,t=2,p=4$\(salt)$\(tag)",
        "$argon2id$v=19$m=65536,t=4294967295,p=4$\(salt)$\(tag)", "$argon2id$v=19$m=65536,t=0,p=4$\(salt)$\(tag)",
        "$argon2id$v=19$m=65536,t=2,p=0$\(salt)$\(tag)", "$argon2id$v=19$m=65536,t=2,p=16777215$\(salt)$\(tag)",
        "$argon2id$v=19$m=8,t=2,p=4$\(salt)$\(tag)",
        // Key id: empty, too long, padded, not UTF-8, given twice.
        "$argon2id$v=19$m=65536,t=2,p=4,keyid=$\(salt)$\(tag)",
        "$argon2id$v=19$m=65536,t=2,p=4,keyid=MTIzNDU2Nzg5$\(salt)$\(tag)",
        "$argon2id$v=19$m=65536,t=2,p=4,keyid=MjAyNg==$\(salt)$\(tag)",
        "$argon2id$v=19$m=65536,t=2,p=4,keyid=/w$\(salt)$\(tag)",
        "$argon2id$v=19$m=65536,t=2,p=4,keyid=MQ,keyid=MQ$\(salt)$\(tag)",
        // Salt and tag: empty, short, long, padded, of another alphabet, with bits left over, a look-alike letter.
        "$argon2id$v=19$m=65536,t=2,p=4$$\(tag)", "$argon2id$v=19$m=65536,t=2,p=4$AAAA$\(tag)",
        "$argon2id$v=19$m=65536,t=2,p=4$\(String(repeating: "A", count: 88))$\(tag)",
        "$argon2id$v=19$m=65536,t=2,p=4$\(salt)$", "$argon2id$v=19$m=65536,t=2,p=4$\(salt)$AAAA",
        "$argon2id$v=19$m=65536,t=2,p=4$\(salt)==$\(tag)",
        "$argon2id$v=19$m=65536,t=2,p=4$-_ECAwQFBgcICQoLDA0ODw$\(tag)",
        "$argon2id$v=19$m=65536,t=2,p=4$AAECAwQFBgcICQoLDA0ODx$\(tag)",
        "$argon2id$v=19$m=65536,t=2,p=4$\u{212A}AECAwQFBgcICQoLDA0ODw$\(tag)",
    ])
    func `refuses other forms`(phc: String) {
        #expect(throws: PasswordsError.unreadableHash) { try PHCString(PasswordHash(phc: phc)) }
    }

    @Test func `survives any byte in any place`() throws {
        for index in Self.peppered.utf8.indices {
            for byte: UInt8 in [0, 9, 32, 36, 43, 44, 48, 57, 61, 65, 127, 0xC3, 0xFF] {
                var bytes = Array(Self.peppered.utf8)
                bytes[Self.peppered.utf8.distance(from: Self.peppered.startIndex, to: index)] = byte
                let phc = String(decoding: bytes, as: UTF8.self)
                let parsed = try? PHCString(PasswordHash(phc: phc))
                #expect(parsed == nil || parsed?.encoded.phc == phc)
            }
        }
    }
}
