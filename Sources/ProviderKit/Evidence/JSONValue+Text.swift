extension JSONValue {
    /// The empty object, which most accounts store.
    private static let emptyObject = "{}"

    /// Parses JSON that the server or its database has written; `init(json:)` parses untrusted JSON.
    package init(jsonText: String) throws {
        self = jsonText == Self.emptyObject ? [:] : try JSONText.value(own: Array(jsonText.utf8))
    }

    /// The value as JSON.
    /// - Throws: `EncodingError` if a number is not finite.
    package func jsonText() throws -> String {
        if case .object(let members) = self, members.isEmpty { return Self.emptyObject }
        guard let text = JSONObjectWriter.text(of: self) else {
            throw EncodingError.invalidValue(self, .init(codingPath: [], debugDescription: "A number is not finite"))
        }
        return String(decoding: text, as: UTF8.self)
    }
}
