internal import Foundation
internal import Postgres
internal import ProviderKit

extension JSONValue {
    /// The empty object, which most accounts store and which is converted without a decoder.
    private static let emptyObject = "{}"

    init(jsonText: String) throws {
        guard jsonText != Self.emptyObject else {
            self = .object([:])
            return
        }
        self = try JSONDecoder().decode(JSONValue.self, from: Data(jsonText.utf8))
    }

    func jsonText() throws -> String {
        if case .object(let members) = self, members.isEmpty { return Self.emptyObject }
        return String(decoding: try JSONEncoder().encode(self), as: UTF8.self)
    }
}

extension Bind {
    static func object(_ members: [String: JSONValue]) throws -> Bind {
        .json(try JSONValue.object(members).jsonText())
    }
}
