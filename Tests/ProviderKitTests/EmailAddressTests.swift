import ProviderKit
import Testing

@Suite struct EmailAddressTests {
    @Test(arguments: [
        ("a@b.co", "a@b.co"),
        ("Ada.Lovelace+x@Example.COM", "ada.lovelace+x@example.com"),
        // NFC, and only ASCII letters fold: what Unicode folds is another mailbox.
        ("Jose\u{301}@example.com", "jos\u{e9}@example.com"),
        ("JOS\u{c9}@example.com", "jos\u{c9}@example.com"),
        ("ada@b\u{fc}cher.example", "ada@xn--bcher-kva.example"),
        ("ada@B\u{dc}CHER.example", "ada@xn--bcher-kva.example"),
        // Full-width letters in a domain are the same host.
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
