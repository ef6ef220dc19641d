import ProviderKit
import Testing

@testable import Accounts

/// Which roles and claims an account may have.
struct AccessRulesTests {
    private func refusal(_ change: AccessChange, by rules: AccessRules = AccessRules()) -> String? {
        do {
            _ = try rules.checked(change)
            return nil
        } catch AccountsError.invalidParameter(let name, let reason) {
            return "\(name) \(reason)"
        } catch {
            return "\(error)"
        }
    }

    @Test(arguments: [
        ("a", true), ("editor", true), ("a-b_9", true), (String(repeating: "a", count: 32), true), ("", false),
        (String(repeating: "a", count: 33), false), ("9a", false), ("-a", false), ("_a", false), ("Editor", false),
        ("e d", false), ("a,b", false), ("é", false), ("e\u{301}", false), ("a\n", false),
    ]) func `names of roles`(name: String, isRole: Bool) {
        #expect(AccessRules.isRole(name) == isRole)
        #expect((refusal(AccessChange(roles: ["b", name])) == nil) == isRole)
    }

    @Test func `roles are sorted and without repetitions`() throws {
        let checked = try AccessRules().checked(AccessChange(roles: ["c", "a", "c", "b"], endsSessions: true))
        #expect(checked == AccessChange(roles: ["a", "b", "c"], endsSessions: true))
        #expect(try AccessRules().checked(AccessChange()) == AccessChange())
    }

    @Test func `an account has 32 roles at most`() {
        let names = (1...33).map { "r\($0)" }
        #expect(refusal(AccessChange(roles: Array(names.dropLast()) + ["r1", "r2"])) == nil)
        #expect(refusal(AccessChange(roles: names)) == "roles has more than 32 names")
    }

    @Test func `where an application lists its roles, there are no others`() {
        var rules = AccessRules()
        rules.roles = ["editor", "moderator"]
        #expect(refusal(AccessChange(roles: ["moderator", "editor"]), by: rules) == nil)
        #expect(refusal(AccessChange(roles: []), by: rules) == nil)
        #expect(
            refusal(AccessChange(roles: ["editor", "admin"]), by: rules)
                == "roles has a name that is none of the application's roles: editor, moderator")
        rules.roles = []
        #expect(refusal(AccessChange(roles: ["editor"]), by: rules)?.hasSuffix("it has none") == true)
    }

    /// The JSON object `{"a":"…"}` takes eight bytes besides the text.
    @Test(arguments: [2, 1000, 4096]) func `claims fit up to the last byte`(largest: Int) {
        var rules = AccessRules()
        rules.claimsLimit = largest
        func claims(_ size: Int) -> AccessChange {
            AccessChange(claims: size == 2 ? [:] : ["a": .string(String(repeating: "x", count: max(0, size - 8)))])
        }
        #expect(refusal(claims(largest), by: rules) == nil)
        #expect(refusal(claims(max(largest + 1, 8)), by: rules) == "claims is larger than \(largest) bytes")
    }

    @Test func `claims are nested four deep at most`() {
        #expect(refusal(AccessChange(claims: ["a": ["b": ["c": ["d": 1]]], "e": [[[1]]]])) == nil)
        for deep: [String: JSONValue] in [["a": ["b": ["c": ["d": [:]]]]], ["a": [[[["d"]]]]]] {
            #expect(refusal(AccessChange(claims: deep)) == "claims is nested more than 4 deep")
        }
    }
}
