/// A parser of JSON texts (RFC 8259).
///
/// It reads the bytes once, from the first to the last. Each rule of the grammar is a method that reads its part of the
/// text from `position` on, and returns the value or throws the fault. The numbers in the comments are the sections of
/// the RFC.
package struct JSONText {
    private let bytes: [UInt8]
    /// Whether the server or its database has written the text, so that the limits do not apply.
    private var isOwn = false
    private var limit: MemberLimit?
    private var refusesRepeatedNames = false
    private var position = 0
    /// The number of bytes before `position` that are blanks or belong to needless escapes.
    private var surplus = 0
    /// Whether the text has a number beyond the range of `Double`.
    private var hasOverflow = false

    private init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Parses a text from outside.
    ///
    /// If an object names a member twice, the first is kept, unless that is refused. Names are the same if they are
    /// canonically equivalent, as in a dictionary.
    package static func value(_ bytes: [UInt8], refusingRepeatedNames: Bool = false) throws(Fault) -> JSONValue {
        var text = JSONText(bytes)
        text.refusesRepeatedNames = refusingRepeatedNames
        return try text.finiteValue()
    }

    /// Parses a text that the server or its database has written.
    package static func value(own bytes: [UInt8]) throws(Fault) -> JSONValue {
        var text = JSONText(bytes)
        text.isOwn = true
        return try text.finiteValue()
    }

    /// Checks a text from outside that a decoder reads next.
    ///
    /// Numbers beyond the range of `Double` are left to the decoder, whose error names the member.
    package static func check(_ bytes: [UInt8], limiting limit: MemberLimit? = nil) throws(Fault) {
        var text = JSONText(bytes)
        text.limit = limit
        _ = try text.text()
    }

    private mutating func finiteValue() throws(Fault) -> JSONValue {
        let value = try text()
        guard !hasOverflow else { throw .malformed }
        return value
    }

    // MARK: - Values

    /// A text: one value (2), in UTF-8 and without a byte order mark (8.1).
    private mutating func text() throws(Fault) -> JSONValue {
        guard String(validating: bytes, as: UTF8.self) != nil else { throw .malformed }
        let value = try value(depth: 0)
        guard position == bytes.count else { throw .malformed }
        return value
    }

    /// A value and the blanks around it (3).
    private mutating func value(depth: Int) throws(Fault) -> JSONValue {
        skipBlanks()
        let value: JSONValue =
            switch next {
            case "{": .object(try object(depth: depth + 1))
            case "[": .array(try array(depth: depth + 1))
            case "\"": .string(try string())
            case "t": try literal("true", .bool(true))
            case "f": try literal("false", .bool(false))
            case "n": try literal("null", .null)
            default: try number()
            }
        skipBlanks()
        return value
    }

    private mutating func literal(_ word: String, _ value: JSONValue) throws(Fault) -> JSONValue {
        for letter in word.unicodeScalars { try require(letter) }
        return value
    }

    /// An object (4).
    private mutating func object(depth: Int) throws(Fault) -> [String: JSONValue] {
        var members: [String: JSONValue] = [:]
        guard try !isEmpty(until: "}", depth: depth) else { return members }
        repeat {
            skipBlanks()
            let name = try name()
            skipBlanks()
            try require(":")
            let start = position - surplus
            let value = try value(depth: depth)
            if depth == 1, let limit, position - surplus - start > limit.bytes, limit.name.hasSameBytes(as: name) {
                throw .oversized(limit)
            }
            if let first = members.updateValue(value, forKey: name) {
                guard !refusesRepeatedNames else { throw .repeatedName }
                members[name] = first
            }
        } while take(",")
        try require("}")
        return members
    }

    private mutating func name() throws(Fault) -> String {
        let name = try string()
        guard isOwn || name.isFitName else { throw .unfitName }
        return name
    }

    /// An array (5).
    private mutating func array(depth: Int) throws(Fault) -> [JSONValue] {
        var items: [JSONValue] = []
        guard try !isEmpty(until: "]", depth: depth) else { return items }
        repeat { items.append(try value(depth: depth)) } while take(",")
        try require("]")
        return items
    }

    /// Reads the opening bracket; if the array or object is empty, also reads the closing one and returns `true`.
    private mutating func isEmpty(until end: Unicode.Scalar, depth: Int) throws(Fault) -> Bool {
        guard depth <= (isOwn ? Self.deepestOwn : Self.deepest) else { throw .tooDeep }
        position += 1
        skipBlanks()
        return take(end)
    }

    // MARK: - Numbers

    /// A number (6).
    private mutating func number() throws(Fault) -> JSONValue {
        let start = position
        _ = take("-")
        if !take("0") { try digits() }
        if take(".") { try digits() }
        if take("e") || take("E") {
            _ = take("+") || take("-")
            try digits()
        }
        guard isOwn || position - start <= Self.longestNumber else { throw .longNumber }
        let number = JSONValue(number: String(decoding: bytes[start..<position], as: UTF8.self))
        if case .number(let double) = number, double.isInfinite { hasOverflow = true }
        return number
    }

    private mutating func digits() throws(Fault) {
        let start = position
        while let digit = next, ("0"..."9").contains(digit) { position += 1 }
        guard position > start else { throw .malformed }
    }

    // MARK: - Strings

    /// A string (7).
    private mutating func string() throws(Fault) -> String {
        try require("\"")
        var decoded: [UInt8] = []
        var start = position
        // Compares bytes directly, because most bytes of a text are read here and the helpers below are slower.
        while position < bytes.count {
            let byte = bytes[position]
            guard byte >= 0x20 else { throw .malformed }
            position += 1
            if byte == UInt8(ascii: "\"") {
                let rest = bytes[start..<position - 1]
                return String(decoding: decoded.isEmpty ? rest : decoded + rest, as: UTF8.self)
            }
            if byte == UInt8(ascii: "\\") {
                decoded += bytes[start..<position - 1]
                decoded += try escaped().utf8
                start = position
            }
        }
        throw .malformed
    }

    /// The character of an escape whose backslash has been read.
    private mutating func escaped() throws(Fault) -> Unicode.Scalar {
        guard let letter = next else { throw .malformed }
        position += 1
        switch letter {
        case "\"", "\\", "/": return letter
        case "b": return "\u{8}"
        case "f": return "\u{C}"
        case "n": return "\n"
        case "r": return "\r"
        case "t": return "\t"
        case "u": return try escapedCode()
        default: throw .malformed
        }
    }

    /// The character of an escaped UTF-16 code unit, or of a surrogate pair.
    private mutating func escapedCode() throws(Fault) -> Unicode.Scalar {
        var code = try codeUnit()
        let isPair = (0xD800...0xDBFF).contains(code)
        if isPair {
            try require("\\")
            try require("u")
            let low = try codeUnit()
            guard (0xDC00...0xDFFF).contains(low) else { throw .malformed }
            code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
        }
        guard code != 0 else { throw .holdsNUL }
        guard let character = Unicode.Scalar(code) else { throw .malformed }
        // Control characters must be escaped.
        if code >= 0x20 { surplus += (isPair ? 12 : 6) - character.utf8.count }
        return character
    }

    /// Four hexadecimal digits.
    private mutating func codeUnit() throws(Fault) -> UInt32 {
        var unit: UInt32 = 0
        for _ in 0..<4 {
            guard position < bytes.count, let digit = bytes[position].hexDigitValue else { throw .malformed }
            unit = unit << 4 | UInt32(digit)
            position += 1
        }
        return unit
    }

    // MARK: - Single bytes

    /// The next byte as a Unicode scalar; a byte beyond ASCII, which only strings may contain, becomes a Latin-1
    /// character.
    private var next: Unicode.Scalar? { position < bytes.count ? Unicode.Scalar(bytes[position]) : nil }

    private mutating func take(_ expected: Unicode.Scalar) -> Bool {
        guard next == expected else { return false }
        position += 1
        return true
    }

    private mutating func require(_ expected: Unicode.Scalar) throws(Fault) {
        guard take(expected) else { throw .malformed }
    }

    private mutating func skipBlanks() {
        while position < bytes.count, Self.isBlank(bytes[position]) {
            position += 1
            surplus += 1
        }
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }
}
