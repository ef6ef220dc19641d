internal import Accounts
internal import ProviderKit

// MARK: - Values of several payloads

extension JSONSchema {
    static let email = JSONSchema(.string, format: "email")
    /// A phone number in international form that can receive text messages.
    static let phone = JSONSchema(.string, pattern: PhoneNumber.pattern)
    /// A text that is not empty.
    static let filledText = JSONSchema(.string, pattern: noNUL, length: 1...Int.max)
    static let displayName = JSONSchema(.string, pattern: noNUL, length: 1...Profile.longestName)
    /// A SHA-256 in base64url (RFC 7636, 4.2).
    static let codeChallenge = JSONSchema(.string, pattern: "^[A-Za-z0-9_-]{43}$")
    static let metadata = JSONSchema.dictionary(of: .anything)
    static let remember = JSONSchema(
        .boolean,
        description:
            "If false, the session ends after `tokens.shortSessions` (12 hours), however often it is refreshed.")
    static let providerToken = JSONSchema(
        .string,
        description: "The token of a provider whose proof has the field `token`, such as `custom-token`.")
    static let bearerType = JSONSchema.enumeration(["Bearer"])

    /// A new password: its length and its number of different characters; a schema can't express the zxcvbn score.
    static let newPassword = JSONSchema(
        .string, pattern: variety(of: PasswordRules.differentCharacters), length: PasswordRules.lengths,
        description: "Refused where zxcvbn scores it below 2.")

    /// Matches texts without U+0000, which PostgreSQL can't store; the server refuses it in every text and name.
    static let noNUL = #"^[^\u0000]*$"#

    /// Any JSON value that a request may contain.
    static let anything: JSONSchema = {
        let nested = JSONSchema.reference(to: "JSON")
        var object = JSONSchema.dictionary(of: nested)
        object.propertyNames = JSONSchema(pattern: noNUL)
        var schema = JSONSchema()
        schema.name = "JSON"
        schema.description = "Names of members are at most 128 bytes of UTF-8; values are nested at most 16 deep."
        schema.anyOf = [
            JSONSchema(.null, .boolean, .number), JSONSchema(.string, pattern: noNUL), .array(of: nested), object,
        ]
        return schema
    }()

    /// Matches texts with at least `count` different characters.
    ///
    /// Each step skips the characters already matched and consumes a new one, so that no regular expression engine
    /// needs to backtrack.
    static func variety(of count: Int) -> String {
        let character = #"[^\u0000]"#
        let steps = (1..<count).map { seen in
            let known = (1...seen).map { "\\\($0)" }.joined(separator: "|")
            return "(?:\(known))*(?!\(known))" + (seen < count - 1 ? "(\(character))" : "\(character)+")
        }
        return "^(\(character))" + steps.joined() + "$"
    }
}

// MARK: - Requests

extension JSONSchema {
    /// This schema adapted to requests: an optional field may be `null`, unknown fields are ignored, and U+0000 is
    /// refused in every text and name.
    var sent: JSONSchema {
        guard self != .any else { return .anything }
        guard name != JSONSchema.anything.name else { return self }
        var schema = self
        schema.name = nil
        if kinds.contains(.string), format == nil, pattern == nil, values.isEmpty { schema.pattern = Self.noNUL }
        schema.items = items?.sent
        if kinds.contains(.object) {
            schema.properties = properties.reduce(into: [:]) { sent, member in
                let value = member.value.sent
                sent[member.key] = required.contains(member.key) ? value : value.nullable
            }
            schema.propertyNames = JSONSchema(pattern: Self.noNUL)
            schema.additionalProperties = additionalProperties?.sent ?? .anything
        }
        return schema
    }
}
