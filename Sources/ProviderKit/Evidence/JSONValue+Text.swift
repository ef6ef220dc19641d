internal import Foundation

extension JSONValue {
    /// The empty object, which most accounts store.
    private static let emptyObject = "{}"

    /// Parses JSON that the server or its database has written; `init(json:)` parses untrusted JSON.
    package init(jsonText: String) throws {
        self = jsonText == Self.emptyObject ? [:] : try JSONText.value(own: Array(jsonText.utf8))
    }

    package func jsonText() throws -> String {
        if case .object(let members) = self, members.isEmpty { return Self.emptyObject }
        return String(decoding: try JSONEncoder().encode(self), as: UTF8.self)
    }
}
