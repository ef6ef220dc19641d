internal import Foundation

/// Checks a JSON text (RFC 8259) before a decoder or a dictionary reads it, in one pass.
///
/// Foundation's decoder also accepts trailing commas, UTF-16 and malformed values of members that are not decoded. Its
/// time for decoding a value of any type grows with the nesting depth, and a dictionary takes long to hash keys with
/// many combining marks, because it sorts them.
package struct JSONText {
    package enum Fault: Error {
        case malformed
        /// An escaped U+0000, which PostgreSQL can't store.
        case holdsNUL
        case tooDeep
        /// A name of more than 128 bytes, or with more than 32 combining marks in a row.
        case unfitName
        /// An object names a member twice.
        case repeatedName
        /// The limited member is larger than its limit.
        case oversized(MemberLimit)
    }

    /// The largest size of a member of the outermost object, not counting blanks and needless escapes.
    package struct MemberLimit: Sendable {
        package let name: String
        package let bytes: Int

        package init(name: String, bytes: Int) { (self.name, self.bytes) = (name, bytes) }
    }

    package static let deepest = 16
    /// The longest name in bytes.
    package static let longestName = 128

    private let bytes: [UInt8]
    private let limit: MemberLimit?
    private let refusesRepeatedNames: Bool
    private var position = 0
    /// The number of bytes before `position` that are blanks or belong to needless escapes.
    private var surplus = 0

    package static func check(
        _ bytes: [UInt8], limiting limit: MemberLimit? = nil, refusingRepeatedNames: Bool = false
    ) throws(Fault) {
        guard String(validating: bytes, as: UTF8.self) != nil else { throw .malformed }
        var text = JSONText(bytes: bytes, limit: limit, refusesRepeatedNames: refusingRepeatedNames)
        try text.value(depth: 0)
        guard text.next == nil else { throw .malformed }
    }

    /// Reads a value and the blanks around it.
    private mutating func value(depth: Int) throws(Fault) {
        skipBlanks()
        switch next {
        case "{": try object(depth: depth + 1)
        case "[": try list(depth: depth + 1)
        case "\"": try string()
        case "t": try literal("true")
        case "f": try literal("false")
        case "n": try literal("null")
        default: try number()
        }
        skipBlanks()
    }

    private mutating func list(depth: Int) throws(Fault) {
        guard try !isEmpty(until: "]", depth: depth) else { return }
        repeat { try value(depth: depth) } while take(",")
        try require("]")
    }

    private mutating func object(depth: Int) throws(Fault) {
        guard try !isEmpty(until: "}", depth: depth) else { return }
        var names: Set<String> = []
        repeat {
            skipBlanks()
            let name = try name()
            if refusesRepeatedNames, !names.insert(name).inserted { throw .repeatedName }
            skipBlanks()
            try require(":")
            let start = position - surplus
            try value(depth: depth)
            if depth == 1, let limit, position - surplus - start > limit.bytes, limit.name.hasSameBytes(as: name) {
                throw .oversized(limit)
            }
        } while take(",")
        try require("}")
    }

    /// Reads the opening bracket; if the list or object is empty, also reads the closing one and returns `true`.
    private mutating func isEmpty(until end: Unicode.Scalar, depth: Int) throws(Fault) -> Bool {
        guard depth <= Self.deepest else { throw .tooDeep }
        position += 1
        skipBlanks()
        return take(end)
    }

    /// Reads a member's name and decodes its escapes.
    private mutating func name() throws(Fault) -> String {
        let start = position
        try string()
        let literal = bytes[start..<position]
        // An escape uses at most six bytes for one byte of the name.
        guard literal.count <= 6 * Self.longestName + 2 else { throw .unfitName }
        let hasEscapes = literal.contains(UInt8(ascii: "\\"))
        let name =
            hasEscapes
            ? try? JSONDecoder().decode(String.self, from: Data(literal))
            : String(decoding: literal.dropFirst().dropLast(), as: UTF8.self)
        guard let name else { throw .malformed }
        guard name.isFitName else { throw .unfitName }
        return name
    }

    private mutating func literal(_ word: String) throws(Fault) {
        guard bytes[position...].starts(with: word.utf8) else { throw .malformed }
        position += word.utf8.count
    }

    private mutating func number() throws(Fault) {
        _ = take("-")
        if !take("0") { try digits() }
        if take(".") { try digits() }
        if take("e") || take("E") {
            _ = take("+") || take("-")
            try digits()
        }
    }

    private mutating func digits() throws(Fault) {
        let start = position
        while let digit = next, ("0"..."9").contains(digit) { position += 1 }
        guard position > start else { throw .malformed }
    }

    // MARK: - Texts

    private mutating func string() throws(Fault) {
        try require("\"")
        // Compares bytes directly, because most bytes of a request are read here and the helpers below are slower.
        while position < bytes.count {
            let byte = bytes[position]
            guard byte >= 0x20 else { throw .malformed }
            position += 1
            if byte == UInt8(ascii: "\"") { return }
            if byte == UInt8(ascii: "\\") { try escape() }
        }
        throw .malformed
    }

    private mutating func escape() throws(Fault) {
        guard take("u") else {
            guard position < bytes.count, "\"\\/bfnrt".utf8.contains(bytes[position]) else { throw .malformed }
            position += 1
            return
        }
        // An escape has six bytes, or twelve for a surrogate pair; the character itself has one to four in UTF-8.
        // Control characters must be escaped.
        switch try codeUnit() {
        case 0: throw .holdsNUL
        case 0x01..<0x20: break
        case 0x20..<0x80: surplus += 5
        case 0x80..<0x800: surplus += 4
        case 0xD800...0xDBFF:
            try require("\\")
            try require("u")
            guard case 0xDC00...0xDFFF = try codeUnit() else { throw .malformed }
            surplus += 8
        case 0xDC00...0xDFFF: throw .malformed
        default: surplus += 3
        }
    }

    /// Reads four hexadecimal digits.
    private mutating func codeUnit() throws(Fault) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard position < bytes.count, let digit = bytes[position].hexDigitValue else { throw .malformed }
            unit = unit << 4 | UInt16(digit)
            position += 1
        }
        return unit
    }

    // MARK: - Single bytes

    /// The next byte as a Unicode scalar; a byte beyond ASCII, which only texts may contain, becomes a Latin-1
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
