internal import Accounts
internal import Foundation

extension Sealing {
    /// Encodes a value as JSON and seals it.
    func seal(json value: some Encodable, at place: SealingPlace) throws -> [UInt8] {
        try seal(Array(JSONEncoder().encode(value)), at: place)
    }

    /// Opens and decodes a sealed JSON value.
    func open<Value: Decodable>(json sealed: [UInt8], at place: SealingPlace) throws -> Value {
        try JSONDecoder().decode(Value.self, from: Data(open(sealed, at: place)))
    }

    /// Opens and decodes a sealed JSON value; `nil` if that fails.
    func decoded<Value: Decodable>(_ sealed: [UInt8]?, at place: SealingPlace) -> Value? {
        sealed.flatMap { try? open(json: $0, at: place) as Value }
    }
}
