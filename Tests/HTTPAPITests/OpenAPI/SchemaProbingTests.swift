import Foundation
import Testing

@testable import HTTPAPI

@Suite("Schemas by probing")
struct SchemaProbingTests {
    typealias Row = (type: any (Decodable & Sendable).Type, schema: String)

    private static let inner = #"{"properties":{"name":{"type":"string"}},"required":["name"],"type":"object"}"#

    static let table: [Row] = [
        (String.self, #"{"type":"string"}"#),
        ([Int?].self, #"{"items":{"format":"int64","type":["integer","null"]},"type":"array"}"#),
        (Probed.Size.self, #"{"enum":["small","large"],"type":"string"}"#),
        (Probed.Wrapper.self, #"{"type":"string"}"#),
        (Probed.Inner.self, inner),
        (NoMembers.self, #"{"type":"object"}"#),
        (
            Probed.Scalars.self,
            """
            {"properties":{"anything":{},"at":{"examples":["2024-01-30T08:00:00.000Z"],"format":"date-time",\
            "type":"string"},"count":{"format":"int64","type":"integer"},"flag":{"type":"boolean"},\
            "id":{"format":"uuid","type":"string"},"link":{"format":"uri","type":"string"},\
            "ratio":{"format":"double","type":"number"},"small":{"format":"int32","type":"integer"},\
            "text":{"type":"string"}},"required":["anything","at","count","flag","id","link","ratio","small","text"],\
            "type":"object"}
            """
        ),
        (
            Probed.Optionals.self,
            """
            {"properties":{"anything":{},"at":{"examples":["2024-01-30T08:00:00.000Z"],"format":"date-time",\
            "type":"string"},"count":{"format":"int64","type":"integer"},"flag":{"type":"boolean"},\
            "phone":{"type":["null","string"]},"ratio":{"format":"double","type":"number"},\
            "size":{"enum":["small","large",null],"type":["null","string"]},"text":{"type":"string"},\
            "wide":{"type":"integer"}},"required":["phone","size"],"type":"object"}
            """
        ),
        (
            Probed.Containers.self,
            """
            {"properties":{"byName":{"additionalProperties":\(inner),"type":"object"},"inner":\(inner),\
            "list":{"items":\(inner),"type":"array"},"maybe":{"anyOf":[\(inner),{"type":"null"}]},\
            "names":{"items":{"type":"string"},"type":"array"},"size":{"enum":["small","large"],"type":"string"},\
            "sparse":{"items":{"type":["null","string"]},"type":"array"}},\
            "required":["byName","inner","list","maybe","names","size","sparse"],"type":"object"}
            """
        ),
        (
            Probed.Tree.self,
            """
            {"properties":{"byName":{"additionalProperties":{"$ref":"#/components/schemas/ProbedTree"},\
            "type":"object"},"children":{"items":{"$ref":"#/components/schemas/ProbedTree"},"type":"array"},\
            "name":{"type":"string"}},"required":["children","name"],"type":"object"}
            """
        ),
        (
            Probed.Flattened.self,
            """
            {"properties":{"name":{"type":"string"},"provider":{"type":"string"}},"required":["name"],\
            "type":"object"}
            """
        ),
        (
            Probed.ByHand.self,
            """
            {"properties":{"deep":{"properties":{"list":{"format":"int64","type":"integer"}},"required":["list"],\
            "type":"object"},"inherited":{"type":"string"},"list":{"items":{"type":"boolean"},"type":"array"}},\
            "required":["deep","inherited","list"],"type":"object"}
            """
        ),
        (
            Probed.AroundStating.self,
            """
            {"properties":{"after":{"type":"boolean"},"stating":{"properties":{"code":{"examples":["123456"],\
            "type":"string"}},"required":["code"],"type":"object"}},"required":["after","stating"],"type":"object"}
            """
        ),
    ]

    struct NoMembers: Codable, Sendable {}

    @Test("derives", arguments: table.indices)
    func derives(index: Int) throws {
        let (type, expected) = Self.table[index]
        let schema = JSONSchema(probing: type)
        #expect(schema.gap == nil)
        #expect(try Self.text(schema) == Self.sorted(expected))
    }

    @Test("keeps what was read before an initializer gave up, and says so")
    func keepsPart() throws {
        let schema = JSONSchema(probing: Probed.Strict.self)
        #expect(schema.properties.keys.sorted() == ["code", "first"])
        #expect(try #require(schema.gap).contains("not six digits"))
        #expect(JSONSchema(probing: Probed.Closed.self).kinds == [.string])
        #expect(JSONSchema(probing: Probed.Closed.self).gap != nil)
    }

    @Test("names components without modules, punctuation and the word Payload")
    func names() {
        let table: [(any Any.Type, String)] = [
            (Probed.Inner.self, "ProbedInner"),
            (String.self, "String"),
            (InboxPayload.self, "Inbox"),
            (InboxPayload.Message.self, "InboxMessage"),
            (Pair<Probed.Inner, Timestamp>.self, "SchemaProbingTestsPairProbedInnerTimestamp"),
            (HiddenPayload.self, "Hidden"),
        ]
        for (type, short) in table {
            #expect(SchemaName(type).short == short)
        }
    }

    struct Pair<First, Second> {}

    private static func text(_ schema: JSONSchema) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(schema), as: UTF8.self)
    }

    private static func sorted(_ json: String) throws -> String {
        let object = try JSONSerialization.jsonObject(with: Data(json.utf8))
        let data = try JSONSerialization.data(withJSONObject: object, options: [.sortedKeys, .withoutEscapingSlashes])
        return String(decoding: data, as: UTF8.self)
    }
}

private struct HiddenPayload {}
