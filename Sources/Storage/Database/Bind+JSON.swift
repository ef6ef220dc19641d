internal import Postgres
internal import ProviderKit

extension Bind {
    static func object(_ members: [String: JSONValue]) throws -> Bind {
        .json(try JSONValue.object(members).jsonText())
    }
}
