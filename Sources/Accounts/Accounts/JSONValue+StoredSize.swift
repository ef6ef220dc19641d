internal import Foundation
internal import ProviderKit

extension JSONValue {
    /// About how many bytes of JSON PostgreSQL returns for the value; `Int.max` if it can't be encoded.
    ///
    /// PostgreSQL writes numbers without an exponent, so the five bytes `1e308` become 309.
    var storedSize: Int {
        guard let text = try? JSONEncoder().encode(self) else { return .max }
        return text.count + spelledOutDigits
    }

    private var spelledOutDigits: Int {
        switch self {
        case .number(let number):
            // A binary digit is worth 0.3 decimal ones, and the text itself has up to 17.
            number.isZero ? 0 : max(0, Int(abs(number.exponent)) * 3 / 10 - 17)
        case .array(let items): items.reduce(0) { $0 + $1.spelledOutDigits }
        case .object(let members): members.values.reduce(0) { $0 + $1.spelledOutDigits }
        case .null, .bool, .integer, .string: 0
        }
    }
}
