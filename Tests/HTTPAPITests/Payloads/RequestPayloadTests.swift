import Foundation
import ProviderKit
import Testing

@testable import HTTPAPI

struct RequestPayloadTests {
    private struct Name: RequestPayload, Equatable {
        let given: String?

        static let fields = RequestFields(Self.init, .init("given"))
    }

    private struct Sample: RequestPayload, Equatable {
        let text: String
        let name: Name?
        let flag: Bool?
        let ids: [UUID]?

        static let fields = RequestFields(
            Self.init, .init("the_text", .email), .init("name"), .init("flag", isRequired: true), .init("ids"))
    }

    private struct Around<Part: RequestPayload>: RequestPayload {
        let part: Part
        let more: String?

        static var fields: RequestFields<Self> {
            RequestFields(Self.init, .init(flattening: Part.self, required: ["ids"]), .init("more"))
        }
    }

    private func decode<Payload: RequestPayload>(_ json: String, as type: Payload.Type) throws -> Payload {
        try JSONDecoder().decode(type, from: Data(json.utf8))
    }

    @Test func `each field becomes a parameter of the initializer`() throws {
        let sample = try decode(#"{"the_text":"x","name":{"given":null},"flag":true,"other":1}"#, as: Sample.self)
        #expect(sample == Sample(text: "x", name: Name(given: nil), flag: true, ids: nil))
    }

    @Test func `the fields of a part are in the same object`() throws {
        let around = try decode(#"{"the_text":"x","more":"y"}"#, as: Around<Sample>.self)
        #expect(around.part.text == "x" && around.more == "y")
        #expect(Around<Sample>.schema.required == ["the_text", "flag", "ids"])
        #expect(Around<Sample>.schema.properties.keys.sorted() == ["flag", "ids", "more", "name", "the_text"])
    }

    @Test(arguments: [
        (#"{}"#, "the_text"), (#"{"the_text":null}"#, "the_text"), (#"{"the_text":1}"#, "the_text"),
        (#"{"the_text":"x","name":{"given":1}}"#, "name.given"), (#"{"the_text":"x","name":[]}"#, "name"),
        (#"{"the_text":"x","ids":["x"]}"#, "ids.Index 0"),
    ])
    func `an error has the path of its field`(json: String, path: String) throws {
        let error = #expect(throws: DecodingError.self) { try decode(json, as: Sample.self) }
        let keys: [any CodingKey] =
            switch try #require(error) {
            case .keyNotFound(let key, let context): context.codingPath + [key]
            case .valueNotFound(_, let context), .typeMismatch(_, let context), .dataCorrupted(let context):
                context.codingPath
            @unknown default: []
            }
        #expect(keys.map(\.stringValue).joined(separator: ".") == path)
    }

    @Test func `the schema states formats, and requires what has no default`() {
        let schema = Sample.schema
        #expect(schema.required == ["the_text", "flag"])
        #expect(schema.properties["the_text"] == .email)
        #expect(schema.properties["name"]?.properties == ["given": .string])
        #expect(schema.properties["ids"] == .array(of: .uuid))
    }

    @Test func `a limited member is declared with its field`() {
        #expect(UserChanges.fields.limit?.name == "metadata")
        #expect(LoginBody.fields.limit == nil)
    }
}
