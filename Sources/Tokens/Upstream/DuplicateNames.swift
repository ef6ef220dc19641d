internal import Foundation

/// Finds objects that name a member twice.
enum DuplicateNames {
    /// Only for what is known to be JSON (RFC 8259).
    static func occur(in json: [UInt8]) -> Bool {
        // One entry for each list or object that is open; `nil` is a list.
        var open: [Set<String>?] = []
        var index = 0
        var expectsName = false
        while index < json.count {
            switch json[index] {
            case UInt8(ascii: "{"):
                open.append([])
                expectsName = true
            case UInt8(ascii: "["):
                open.append(nil)
                expectsName = false
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                _ = open.popLast()
                expectsName = false
            case UInt8(ascii: ","):
                expectsName = open.last.flatMap { $0 } != nil
            case UInt8(ascii: "\""):
                let end = endOfString(in: json, from: index)
                if expectsName, let last = open.indices.last {
                    guard open[last]?.insert(name(json[index..<end])).inserted == true else { return true }
                }
                expectsName = false
                index = end - 1
            default: break
            }
            index += 1
        }
        return false
    }

    /// Behind the closing quote of the text that begins here.
    private static func endOfString(in json: [UInt8], from start: Int) -> Int {
        var index = start + 1
        while index < json.count, json[index] != UInt8(ascii: "\"") {
            index += json[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        return min(index + 1, json.count)
    }

    /// Escapes are read: `"\u0069ss"` is `"iss"`.
    private static func name(_ literal: ArraySlice<UInt8>) -> String {
        (try? JSONDecoder().decode(String.self, from: Data(literal))) ?? String(decoding: literal, as: UTF8.self)
    }
}
