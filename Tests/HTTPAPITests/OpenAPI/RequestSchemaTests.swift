import Accounts
import ProviderKit
import Testing

@testable import HTTPAPI

@Suite("Schemas of requests")
struct RequestSchemaTests {
    private static let noNUL = JSONValue.string(#"^[^\u0000]*$"#)

    private func written(_ type: any RequestPayload.Type) -> JSONValue {
        ComponentSchemas().json(of: type.schema.sent)
    }

    @Test("a field that may be left out may be null, and no text or name holds U+0000")
    func optionalFields() {
        let schema = written(LogoutBody.self)
        #expect(schema["properties", "refreshToken", "type"] == .array([.string("null"), .string("string")]))
        #expect(schema["properties", "refreshToken", "pattern"] == Self.noNUL)
        #expect(schema["properties", "scope", "enum"]?.elements.contains(.null) == true)
        #expect(schema["propertyNames", "pattern"] == Self.noNUL)
        #expect(schema["additionalProperties", "$ref"] == .string("#/components/schemas/JSON"))
        #expect(schema["required"] == .null)
    }

    @Test("a field that is missed by an error of its own is required")
    func requiredFields() {
        #expect(written(LoginBody.self)["required"] == .array([.string("email"), .string("password")]))
        #expect(written(NamedProofBody.self)["required"] == .array([.string("provider")]))
        #expect(written(ProofBody.self)["required"] == .null)
    }

    @Test("formats, lengths and patterns are stated")
    func fields() {
        let schema = written(RegistrationBody.self)
        #expect(schema["properties", "email", "format"] == .string("email"))
        #expect(schema["properties", "password", "minLength"] == .integer(8))
        #expect(schema["properties", "password", "maxLength"] == .integer(256))
        #expect(schema["properties", "displayName", "maxLength"] == .integer(256))
        #expect(written(AddressBody.self)["properties", "phone", "pattern"] == .string(PhoneNumber.pattern))
    }

    @Test("any JSON is one component, which holds itself")
    func anyJSON() {
        let components = ComponentSchemas()
        let schema = components.json(of: UserChanges.schema.sent)
        let reference = JSONValue.string("#/components/schemas/JSON")
        #expect(schema["properties", "metadata", "additionalProperties", "$ref"] == reference)
        #expect(components.written["JSON"]?["anyOf", 2, "items", "$ref"] == reference)
        #expect(components.written["JSON"]?["anyOf", 3, "additionalProperties", "$ref"] == reference)
    }

    @Test(
        "a pattern asks for different characters",
        arguments: [
            ("abcde", true), ("aabbccddee", true), ("edcba\u{1F600}", true), ("abcda", false), ("aaaaaaaaaaaa", false),
            ("abababcdcdcd", false), ("", false), ("abcdabcde", true), (String(repeating: "ab", count: 1000), false),
        ])
    func variety(text: String, isMatched: Bool) throws {
        #expect(text.contains(try Regex(JSONSchema.variety(of: 5))) == isMatched)
    }
}
