import Foundation
import Testing

@testable import HTTPAPI

@Suite("Nullable")
struct NullableTests {
    struct Person: Codable, Equatable, Sendable {
        @Nullable var phone: String?
        var nickname: String?
    }

    @Test("writes null where an optional is left out")
    func writesNull() throws {
        #expect(try text(Person(phone: nil, nickname: nil)) == #"{"phone":null}"#)
        #expect(try text(Person(phone: "+33", nickname: "A")) == #"{"nickname":"A","phone":"+33"}"#)
    }

    @Test(
        "reads absent and null alike",
        arguments: [("{}", nil), (#"{"phone":null}"#, nil), (#"{"phone":"+33"}"#, "+33")])
    func reads(json: String, phone: String?) throws {
        #expect(try JSONDecoder().decode(Person.self, from: Data(json.utf8)).phone == phone)
    }

    @Test("refuses another type")
    func refusesOtherType() {
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(Person.self, from: Data(#"{"phone":1}"#.utf8))
        }
    }

    @Test("comes back as it was", arguments: [nil, "+33"])
    func comesBack(phone: String?) throws {
        let person = Person(phone: phone, nickname: nil)
        #expect(try JSONDecoder().decode(Person.self, from: JSONEncoder().encode(person)) == person)
    }

    private func text(_ person: Person) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return String(decoding: try encoder.encode(person), as: UTF8.self)
    }
}
