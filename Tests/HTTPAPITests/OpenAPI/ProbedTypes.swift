import Foundation
import ProviderKit

@testable import HTTPAPI

/// Types as payloads may be; the tables of the probe's tests name them.
enum Probed {
    struct Scalars: Codable, Sendable {
        let text: String
        let flag: Bool
        let count: Int
        let small: Int32
        let ratio: Double
        let id: UUID
        let link: URL
        let at: Timestamp
        let anything: JSONValue
    }

    struct Optionals: Codable, Sendable {
        let text: String?
        let flag: Bool?
        let count: Int?
        let wide: UInt64?
        let ratio: Double?
        let at: Timestamp?
        let anything: JSONValue?
        @Nullable var phone: String?
        @Nullable var size: Size?
    }

    enum Size: String, Codable, CaseIterable {
        case small, large
    }

    /// Not `CaseIterable`: the empty text, which the probe makes up, is none of its values.
    enum Closed: String, Codable {
        case only
    }

    struct Inner: Codable, Sendable {
        let name: String
    }

    struct ErrorPayload: Codable, Sendable {
        struct Content: Codable, Sendable {
            let code: String
            let message: String
            let details: [String: JSONValue]?
        }

        let error: Content
    }

    struct Containers: Codable, Sendable {
        let list: [Inner]
        let names: Set<String>
        let byName: [String: Inner]
        let sparse: [String?]
        let size: Size
        let inner: Inner
        @Nullable var maybe: Inner?
    }

    struct Tree: Codable, Sendable {
        let name: String
        let children: [Tree]
        let byName: [String: Tree]?
    }

    struct Wrapper: Codable, Sendable {
        let text: String

        init(from decoder: any Decoder) throws {
            text = try decoder.singleValueContainer().decode(String.self)
        }
    }

    /// Reads its own key and leaves the others to another type.
    struct Flattened: Decodable, Sendable {
        let provider: String?
        let inner: Inner

        private enum CodingKeys: String, CodingKey {
            case provider
        }

        init(from decoder: any Decoder) throws {
            provider = try decoder.container(keyedBy: CodingKeys.self).decodeIfPresent(String.self, forKey: .provider)
            inner = try Inner(from: decoder)
        }
    }

    struct ByHand: Decodable, Sendable {
        private enum CodingKeys: String, CodingKey {
            case deep, list, inherited
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            let deep = try container.nestedContainer(keyedBy: CodingKeys.self, forKey: .deep)
            _ = try deep.decode(Int.self, forKey: .list)
            var list = try container.nestedUnkeyedContainer(forKey: .list)
            while !list.isAtEnd {
                _ = try list.decode(Bool.self)
            }
            _ = try Wrapper(from: container.superDecoder(forKey: .inherited))
        }
    }

    /// Refuses what the probe makes up, half-way.
    struct Strict: Decodable, Sendable {
        private enum CodingKeys: String, CodingKey {
            case first, code, never
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            _ = try container.decode(Bool.self, forKey: .first)
            guard try container.decode(String.self, forKey: .code).count == 6 else {
                throw DecodingError.dataCorruptedError(forKey: .code, in: container, debugDescription: "not six digits")
            }
            _ = try container.decode(Bool.self, forKey: .never)
        }
    }

    struct Stating: Decodable, Sendable, DocumentedSchema {
        let code: String

        static var schema: JSONSchema {
            var code = JSONSchema.string
            code.examples = [.string("123456")]
            return .object(["code": code], required: ["code"])
        }

        private enum CodingKeys: String, CodingKey {
            case code
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            code = try container.decode(String.self, forKey: .code)
            guard code.count == 6 else {
                throw DecodingError.dataCorruptedError(forKey: .code, in: container, debugDescription: "not six digits")
            }
        }
    }

    /// Goes on after a type that states its schema, with the stated example.
    struct AroundStating: Decodable, Sendable {
        let stating: Stating
        let after: Bool
    }

    static var twin: any Decodable.Type { Twin.self }
}

/// Has a namesake.
private struct Twin: Codable {
    let there: Bool
}
