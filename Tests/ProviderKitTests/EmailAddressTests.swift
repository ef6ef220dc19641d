import ProviderKit
import Testing

@Suite struct EmailAddressTests {
    @Test(arguments: [
        ("a@b.co", "a@b.co"),
        ("Ada.Lovelace+x@Example.COM", "ada.lovelace+x@example.com"),
        // Addresses are in NFC, and only ASCII letters are folded. Other case mappings of Unicode would name another
        // mailbox.
        ("Jose\u{301}@example.com", "jos\u{e9}@example.com"),
        ("JOS\u{c9}@example.com", "jos\u{c9}@example.com"),
        ("ada@b\u{fc}cher.example", "ada@xn--bcher-kva.example"),
        ("ada@B\u{dc}CHER.example", "ada@xn--bcher-kva.example"),
        // Full-width letters in a domain name the same host.
        ("ada@\u{ff45}xample.com", "ada@example.com"),
    ])
    func oneForm(typed: String, stored: String) {
        #expect(EmailAddress(typed)?.value == stored)
        #expect(EmailAddress(stored)?.value == stored, "the form is stable")
    }

    @Test(arguments: [
        "", "a", "@b.co", "a@", "a@b", "a@@b.co", "a@b@c.co", "a b@c.co", " a@b.co", "a@b.co ", "a@b.co\n",
        "a\u{0}@b.co",
        "Ada <a@b.co>", "a@b.co,c@d.co", "\"a b\"@c.co", "a(comment)@b.co", ".a@b.co", "a.@b.co", "a..b@c.co",
        "a@[127.0.0.1]", "a@127.0.0.1", "a@-b.co", "a@b-.co", "a@b..co", "a@.b.co", "a@b_c.co", "a\u{200b}@b.co",
        "a\u{202e}@b.co", "a@b.co\r\nBcc: x@y.co", "a@\u{200d}.co", "a@exa<mple.com", "a@b.example>", "a@b.exam_ple",
        "a@a b.example", "a@b.ex\u{ff1c}ample",
        "a@b.co\u{ff0c}c.co", "a@b\u{2024}\u{2024}co", "a@exam\u{ad}ple.com",
    ])
    func notOnePlainAddress(typed: String) {
        #expect(EmailAddress(typed) == nil)
    }

    /// The source may have verified another mailbox than the one that the normal form names.
    @Test(arguments: [
        ("ada@example.com", true), ("Ada@EXAMPLE.com", true), ("jos\u{e9}@example.com", true),
        ("Jose\u{301}@example.com", true), ("ada@b\u{fc}cher.example", true), ("ada@B\u{dc}CHER.example", true),
        ("ada@bu\u{308}cher.example", true), ("ada@stra\u{df}e.example", true), ("ada@xn--bcher-kva.example", true),
        ("ada@\u{5d0}\u{5d1}.example", true), ("ada@\u{4f8b}\u{5b50}.example", true), ("ada@ex\u{430}mple.com", true),
        ("ada@\u{ff45}xample.com", false), ("ada@ex\u{ff41}mple.com", false), ("ada@example\u{3002}com", false),
        ("ada@example\u{ff0e}com", false), ("ada@e\u{1d431}ample.com", false), ("ada@e\u{2093}ample.com", false),
        ("ada@\u{212a}ing.example", false), ("ada@\u{130}sland.example", false), ("ada@\u{2460}.example", false),
        ("ada@\u{ff42}\u{fc}cher.example", false), ("ada@\u{17f}ite.example", false),
        ("ada@gro\u{1e9e}.example", false), ("ada@\u{fb01}n.example", false),
        ("\u{212a}ing@example.com", false), ("a\u{37e}b@example.com", false),
    ])
    func onlyAnAddressAsWrittenIsVerified(text: String, isAsWritten: Bool) {
        let claim = AddressClaim(email: text, isVerified: true, isAuthoritative: true)
        guard let claim else {
            // A malformed address gives no claim.
            #expect(!isAsWritten && EmailAddress(text) == nil, "\(text)")
            return
        }
        #expect(claim.address.email == EmailAddress(text))
        #expect(claim.isVerified == isAsWritten && claim.isAuthoritative == isAsWritten, "\(text)")
        let unverified = AddressClaim(email: text, isVerified: false, isAuthoritative: false)
        #expect(unverified?.isVerified == false && unverified?.isAuthoritative == false)
    }

    @Test func lengths() {
        let label = String(repeating: "d", count: 60)
        #expect(EmailAddress(String(repeating: "a", count: 64) + "@b.co") != nil)
        #expect(EmailAddress(String(repeating: "a", count: 65) + "@b.co") == nil)
        #expect(EmailAddress("a@\(label).\(label).\(label).\(label).co") != nil)
        #expect(EmailAddress("aaaaaaaaaaaa@\(label).\(label).\(label).\(label).co") == nil)
        #expect(EmailAddress(String(repeating: "a", count: 100_000) + "@b.co") == nil)
    }

    /// Letters that look alike are not the same mailbox.
    @Test func lookAlikesDiffer() {
        #expect(EmailAddress("p\u{430}ypal@example.com") != EmailAddress("paypal@example.com"))
        #expect(EmailAddress("ada@ex\u{430}mple.com") != EmailAddress("ada@example.com"))
    }
}
