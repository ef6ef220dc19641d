import Administration
import ProviderKit
import Testing

/// What administrators see of values about people.
struct MaskTests {
    @Test(arguments: [
        ("ada@example.com", "a•••@e•••.com"), ("a@b.org", "a•••@b•••.org"),
        ("grace.hopper@mail.navy.example", "g•••@m•••.example"), ("ünal@xn--bcher-kva.example", "ü•••@x•••.example"),
        ("no address", "•••"), ("@example.com", "•••"), ("ada@host", "a•••@•••"), ("", "•••"),
    ])
    func `an e-mail address`(address: String, masked: String) {
        #expect(Mask.email(address) == masked)
    }

    @Test(arguments: [
        ("+33612345678", "+33•••78"), ("+14155552671", "+1•••71"), ("+358401234567", "+358•••67"),
        ("0612345678", "•••"),
        ("", "•••"),
    ])
    func `a phone number`(number: String, masked: String) {
        #expect(Mask.phone(number) == masked)
    }

    @Test(arguments: [
        ("Ada Lovelace", "A•••"), ("A", "A•••"), ("Żaneta", "Ż•••"), ("李小龍", "李•••"), ("", "•••"),
        // A letter with a thousand marks is one character to Swift.
        ("a" + String(repeating: "\u{301}", count: 1000), "a•••"),
    ])
    func `a name`(name: String, masked: String) {
        #expect(Mask.name(name) == masked)
    }

    @Test(arguments: [
        ("104857600123", "1048•••"), ("alice", "alic•••"), ("adam", "ad•••"), ("ada", "a•••"), ("x", "•••"),
        ("", "•••"),
        ("grace@example.com", "grac•••"), ("ada@example.com", "a•••"), ("+33612345678", "+336•••"),
    ])
    func `a provider's id of a person`(id: String, masked: String) {
        #expect(Mask.providerUid(id) == masked)
    }

    @Test(arguments: [
        ("203.0.113.7", "203.0.0.0/16"), ("2001:db8:1:2::3", "2001:db8::/32"), ("::ffff:203.0.113.7", "203.0.0.0/16"),
        ("unknown", "•••"), ("", "•••"),
    ])
    func `a client's address`(address: String, masked: String) {
        #expect(Mask.clientAddress(address) == masked)
    }

    @Test func `metadata keep the names of their members`() {
        let metadata: JSONValue = ["theme": "dark", "address": ["street": "Elm Street 1"], "tags": ["a"], "age": 36]
        #expect(
            Mask.metadata(metadata) == ["theme": "•••", "address": "•••", "tags": "•••", "age": "•••"])
        #expect(Mask.metadata([:]) == [:])
    }

    @Test func `no mask tells how long a value is`() {
        for count in [8, 20, 60] {
            let text = "x" + String(repeating: "y", count: count)
            #expect(Mask.name(text) == "x•••" && Mask.email("\(text)@\(text).com") == "x•••@x•••.com")
            #expect(Mask.providerUid(text) == "xyyy•••")
        }
    }
}
