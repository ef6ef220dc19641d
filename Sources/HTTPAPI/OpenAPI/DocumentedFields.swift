internal import Accounts
internal import ProviderKit

/// A type that states more about its fields than the types of its properties tell.
protocol DocumentedFields: Decodable {
    /// Schemas that replace the probed ones, by field name; a field that may be `null` stays so.
    static var fields: [String: JSONSchema] { get }
    /// Fields that a client must send although the type reads them as optional, since their absence is an error of its
    /// own.
    static var requiredFields: Set<String> { get }
}

extension DocumentedFields {
    static var requiredFields: Set<String> { [] }
}

extension JSONSchema {
    /// The probed schema of a type, with what the type states about its fields.
    func refined(by type: any DocumentedFields.Type) -> JSONSchema {
        var schema = self
        for (name, field) in type.fields {
            guard let probed = properties[name] else { continue }
            schema.properties[name] = probed.kinds.contains(.null) ? field.nullable : field
        }
        schema.required.formUnion(type.requiredFields)
        return schema
    }
}

// MARK: - Fields of several payloads

extension JSONSchema {
    static let uuid = JSONSchema(.string, format: "uuid")
    static let email = JSONSchema(.string, format: "email")
    /// An international number that gets text messages.
    static let phone = JSONSchema(.string, pattern: PhoneNumber.pattern)
    /// A text that is not empty.
    static let filledText = JSONSchema(.string, pattern: noNUL, length: 1...Int.max)
    static let displayName = JSONSchema(.string, pattern: noNUL, length: 1...Profile.longestName)
    /// A SHA-256 in base64url (RFC 7636, 4.2).
    static let codeChallenge = JSONSchema(.string, pattern: "^[A-Za-z0-9_-]{43}$")
    static let metadata = JSONSchema.dictionary(of: .anything)

    /// Lengths and variety are stated; that zxcvbn must find the password hard to guess can't be.
    static let newPassword = JSONSchema(
        .string, pattern: variety(of: PasswordRules.differentCharacters), length: PasswordRules.lengths,
        description: "Refused where zxcvbn scores it below 2.")

    /// U+0000, which PostgreSQL can't store, is refused in every text and name.
    static let noNUL = #"^[^\u0000]*$"#

    /// Any JSON value that a request may hold.
    static let anything: JSONSchema = {
        let nested = JSONSchema.reference(to: SchemaName("JSON"))
        var object = JSONSchema.dictionary(of: nested)
        object.propertyNames = JSONSchema(pattern: noNUL)
        var schema = JSONSchema().named("JSON")
        schema.description = "Names of members are at most 128 bytes of UTF-8; values are nested at most 16 deep."
        schema.anyOf = [
            JSONSchema(.null, .boolean, .number), JSONSchema(.string, pattern: noNUL), .array(of: nested), object,
        ]
        return schema
    }()

    /// Matches texts with at least that many different characters.
    ///
    /// Each step skips the characters seen so far and takes a new one, so that no engine needs to try again.
    static func variety(of count: Int) -> String {
        let character = #"[^\u0000]"#
        let steps = (1..<count).map { seen in
            let known = (1...seen).map { "\\\($0)" }.joined(separator: "|")
            return "(?:\(known))*(?!\(known))" + (seen < count - 1 ? "(\(character))" : "\(character)+")
        }
        return "^(\(character))" + steps.joined() + "$"
    }
}
