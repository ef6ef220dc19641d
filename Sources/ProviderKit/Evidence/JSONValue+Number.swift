extension JSONValue {
    /// The value of a well-formed number (RFC 8259, 6); infinite if it is beyond the range of `Double`.
    ///
    /// `1.0` and `1e3` are integers too. `Double` represents every integer below 2^53; larger ones are read from the
    /// digits.
    init(number: String) {
        if let integer = Int64(number) {
            self = .integer(integer)
            return
        }
        let double = Double(number) ?? .infinity
        let integer = double.magnitude < 0x1p53 ? Int64(exactly: double) : Self.integer(of: number)
        self = integer.map { .integer($0) } ?? .number(double)
    }

    /// The digits with the point moved by the exponent; `nil` if a fraction remains, or 64 bits do not suffice.
    private static func integer(of number: String) -> Int64? {
        let parts = number.split { $0 == "e" || $0 == "E" }
        let fraction = parts[0].split(separator: ".").dropFirst().joined()
        guard let exponent = parts.count == 1 ? 0 : Int(parts[1]) else { return nil }
        var digits = parts[0].filter { $0 != "." }
        var zeros = exponent - fraction.count
        while zeros < 0, digits.last == "0" {
            digits.removeLast()
            zeros += 1
        }
        guard (0...18).contains(zeros) else { return nil }
        return Int64(digits + String(repeating: "0", count: zeros))
    }
}
