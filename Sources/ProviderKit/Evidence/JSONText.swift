/// Whether a text is JSON to the letter (RFC 8259), and such as can be kept.
///
/// Foundation's decoder also takes trailing commas, UTF-16, and anything at all in the fields that nobody asks for.
package struct JSONText {
    package enum Fault: Error {
        case malformed
        /// An escaped U+0000, which PostgreSQL can't store.
        case holdsNUL
        case tooDeep
    }

    /// The decoder's work on a value of unknown type grows with its depth: a small body could keep a core busy for hours.
    package static let deepest = 16

    private let bytes: [UInt8]
    private var position = 0

    private init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    package static func check(_ bytes: [UInt8]) throws(Fault) {
        guard String(validating: bytes, as: UTF8.self) != nil else { throw .malformed }
        var text = JSONText(bytes)
        try text.value(depth: 0)
        guard text.next == nil else { throw .malformed }
    }

    /// A value and the blanks around it.
    private mutating func value(depth: Int) throws(Fault) {
        skipBlanks()
        switch next {
        case "{": try members(depth: depth + 1, until: "}", named: true)
        case "[": try members(depth: depth + 1, until: "]", named: false)
        case "\"": try string()
        case "t": try literal("true")
        case "f": try literal("false")
        case "n": try literal("null")
        default: try number()
        }
        skipBlanks()
    }

    private mutating func members(depth: Int, until end: Unicode.Scalar, named: Bool) throws(Fault) {
        guard depth <= Self.deepest else { throw .tooDeep }
        position += 1
        skipBlanks()
        guard !take(end) else { return }
        repeat {
            if named {
                skipBlanks()
                try string()
                skipBlanks()
                try require(":")
            }
            try value(depth: depth)
        } while take(",")
        try require(end)
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
}

// MARK: - Texts

extension JSONText {
    private mutating func string() throws(Fault) {
        try require("\"")
        while !take("\"") {
            guard let character = next, character.value >= 0x20 else { throw .malformed }
            position += 1
            if character == "\\" { try escape() }
        }
    }

    private mutating func escape() throws(Fault) {
        guard take("u") else {
            guard let short = next, "\"\\/bfnrt".unicodeScalars.contains(short) else { throw .malformed }
            position += 1
            return
        }
        switch try codeUnit() {
        case 0: throw .holdsNUL
        case 0xD800...0xDBFF:
            try require("\\")
            try require("u")
            guard case 0xDC00...0xDFFF = try codeUnit() else { throw .malformed }
        case 0xDC00...0xDFFF: throw .malformed
        default: return
        }
    }

    /// Four hexadecimal digits.
    private mutating func codeUnit() throws(Fault) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let digit = next.flatMap({ Character($0).hexDigitValue }), next?.isASCII == true else {
                throw .malformed
            }
            unit = unit << 4 | UInt16(truncatingIfNeeded: digit)
            position += 1
        }
        return unit
    }
}

// MARK: - Single bytes

extension JSONText {
    /// The next byte; beyond ASCII, where only texts may hold it, some character of Latin-1.
    private var next: Unicode.Scalar? {
        position < bytes.count ? Unicode.Scalar(bytes[position]) : nil
    }

    private mutating func take(_ expected: Unicode.Scalar) -> Bool {
        guard next == expected else { return false }
        position += 1
        return true
    }

    private mutating func require(_ expected: Unicode.Scalar) throws(Fault) {
        guard take(expected) else { throw .malformed }
    }

    private mutating func skipBlanks() {
        while let blank = next, [" ", "\t", "\n", "\r"].contains(blank) { position += 1 }
    }
}
